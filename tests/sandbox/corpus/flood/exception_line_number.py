# tries: lie about the line by a hostile traceback and file name
# stopped by: grader
# expect: raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    code = compile("\n" * 10**5 + "1/0", "\x1b[31m../../etc/passwd", "exec")
    exec(code.replace(co_firstlineno=2**30), {})
