#!/usr/bin/env bash
# A whole class from lint to gradebook: quiz, code, downloads of two learning systems, a killed grader, rules
# about late work, marks by hand, a corrected item, gradebooks, feedback, analysis, backup.
#
# Usage: demo.sh [FOLDER]
# Every command is shown with its output. Each has the exit code that it should have: 0 for all right, 1 where
# something is listed that needs a person. Anything else stops the demo with that code named.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-.demo}
if [ -e "$out" ] && [ ! -e "$out/course/.softmark" ] && ! rmdir "$out" 2>/dev/null; then
  printf '%s is no folder of an earlier demo; name another one\n' "$out" >&2
  exit 2
fi
rm -rf "$out"
mkdir -p "$out"
cd "$out"
export COLUMNS=${COLUMNS:-140}
unset SOFTMARK_STORE SOFTMARK_CRASH_AT

step() { printf '\n== %s\n' "$1"; }

# quoted WORDS…: the words as one would type them.
quoted() {
  local word line=""
  for word in "$@"; do
    case $word in
      "") ;;
      *[\ \(\)]*) line+=" \"$word\"" ;;
      *) line+=" $word" ;;
    esac
  done
  printf '%s' "${line# }"
}

# expect CODE COMMAND…: show the command, run it, and stop if it ends with another exit code.
expect() {
  local wanted=$1 code=0
  shift
  printf '$ %s\n' "$(quoted "${@#brief}")"
  "$@" || code=$?
  if [ "$code" -ne "$wanted" ]; then
    printf '\nThe demo stops: exit code %s instead of %s of: %s\n' "$code" "$wanted" "$*" >&2
    exit 1
  fi
}

# brief COMMAND…: show what follows the table of the whole class.
brief() {
  local code=0
  "$@" >.whole || code=$?
  sed '1,/^$/d' .whole
  rm .whole
  return $code
}

# stored N: the store is sound, and holds N attempts, no more and no fewer.
stored() {
  expect 0 grade store check --course course | tee .whole
  if ! grep -Eq "^attempts +$1\$" .whole; then
    printf '\nThe demo stops: there should be %s attempts\n' "$1" >&2
    exit 1
  fi
  rm .whole
}

step "The bank proves itself"
expect 0 grade lint --seeds 5

step "A course with 20 students, rules about late work, and a question of its own"
expect 0 grade init course --title "Deep Learning: attention"
cp "$here"/course/{roster.csv,staff.csv,course.yaml} course/
cp "$here"/course/problems/* course/problems/
cp "$here"/course/blueprints/* course/blueprints/
# In the demo alone the secret is known, so that every run draws the same numbers.
printf 'the demo: 32 bytes known to all.' > course/.softmark/secret
rm course/.softmark/secret-fingerprint      # another secret is refused unless somebody says so
expect 0 grade course check --course course

step "One randomized quiz per student"
expect 0 grade quiz new quiz-1 --course course

step "The students hand in: code on Canvas, quizzes on Moodle, one sheet of paper"
mkdir handed-in
python "$here/answer_quizzes.py" course quiz-1 handed-in/quizzes
python "$here/downloads.py" "$here"/course/{submissions,again,roster.csv} handed-in/quizzes handed-in
rm -r handed-in/quizzes
ls handed-in

step "What is in the download?"
expect 1 grade intake handed-in/canvas.zip --course course

step "Grade it; kill -9 ends the grader when it has stored 20 results"
(export SOFTMARK_CRASH_AT=after-record:20 && expect 137 grade batch handed-in/canvas.zip --course course --out results)
stored 20

step "The same command again keeps these results and grades the rest"
expect 1 brief grade batch handed-in/canvas.zip --course course --out results
stored 37
expect 0 brief grade batch handed-in/moodle.zip --course course --out results
expect 0 grade batch handed-in/paper.csv --quiz quiz-1 --course course --out results

step "Marks by hand stand above what is graded"
expect 0 grade mark s09 softmax --score 4 --comment "explained it in the office hour" --by "Prof. Weber" --course course
expect 0 grade mark list --course course

step "Which items worked?"
expect 0 grade report --quiz quiz-1 --course course --out report-before

step "Able students get one item wrong: its key is. What would a correction change?"
diff -U0 --label problems/same-number-added.yaml --label corrected \
  course/problems/same-number-added.yaml "$here/course/corrected/same-number-added.yaml" || [ $? -eq 1 ]
cp "$here/course/corrected/same-number-added.yaml" course/problems/
expect 0 grade regrade same-number-added --dry-run --course course
expect 0 grade regrade same-number-added --yes --cause "adding a number changes no weight" --by "Prof. Weber" --course course
expect 0 grade report --quiz quiz-1 --item same-number-added --course course

step "Pages, summary and analysis anew: nothing is graded twice"
expect 0 brief grade batch handed-in/moodle.zip --course course --out results
expect 0 brief grade report --course course --out report

step "Gradebooks: Canvas's own file filled in, and Excel"
cp "$here/course/canvas-gradebook.csv" canvas.csv
expect 1 grade export canvas --into canvas.csv --out canvas-upload.csv --course course \
  --column "Softmax (5101)=softmax" \
  --column "Scaled dot-product attention (5102)=sdpa" \
  --column "Quiz 1 (5103)=quiz-1"
expect 1 grade export excel --out marks.xlsx --course course

step "A feedback page for each student, packed for Moodle and Canvas"
expect 1 grade feedback --out results --zip moodle --assignment quiz-1 --course course
expect 1 grade feedback --out results --zip canvas --assignment softmax --course course

step "Which hand-ins are alike?"
expect 0 grade similar --course course --out alike

step "The store is whole, and is backed up"
stored 217  # 37 files of code, and 20 quizzes of 9 questions
expect 0 grade store backup backup.db --course course

step "The class on the web: the site starts, answers and ends"
expect 0 grade serve --check --port 0 --course course
expect 0 python "$here/try_site.py" course

cat <<END

Everything is in $out:
  results/index.html             the class: table, items, known mistakes, what needs a person
  results/students/s02.html      one student's feedback; with another hand-in that came late
  results/gradebook.csv          marks as they count, as graded, and why
  canvas-upload.csv, marks.xlsx  gradebooks for Canvas and Excel
  results/feedback-*.zip         feedback pages, packed for Moodle and Canvas
  report-before/, report/        which items worked before the correction and after it, and what 20 students can't tell
  alike/index.html               similar hand-ins: evidence to read, not a verdict
  course/quizzes/quiz-1/         what the students got

The class on the web, where the line that it prints signs you in as Prof. Weber:
  grade serve --course $out/course
END
