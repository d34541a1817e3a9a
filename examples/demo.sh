#!/usr/bin/env bash
# The main job on the example class: lint the bank, draw a quiz, hand in, grade, say where the pages lie.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-.demo}
rm -rf "$out"
mkdir -p "$out"

step() { printf '\n== %s\n' "$1"; }

step "The bank proves itself"
grade lint --seeds 20

step "A course with 20 students"
grade init "$out/course" --title "Deep Learning: attention"
cp "$here/course/roster.csv" "$out/course/roster.csv"

step "One randomized quiz per student"
grade quiz new l16 --course "$out/course"

step "The students hand in code and answers"
cp -r "$here/course/submissions" "$out/handed-in"
python "$here/answer_quizzes.py" "$out/course" l16 "$out/handed-in"

step "Grade the class"
grade batch "$out/handed-in" --course "$out/course" --out "$out/results" || [ $? -eq 1 ]

printf '\nThe pages lie here:\n  %s\n  %s\n' "$out/results/index.html" "$out/course/quizzes/l16/"
