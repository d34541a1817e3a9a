# tries: raise an exception whose name and text are markup, escapes and control characters
# stopped by: grader
# expect: raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    name = "<script>alert(1)</script>\x1b[31m" + "n" * 10**6
    raise type(name, (Exception,), {})("[red]\x00\x1b]8;;http://example.org\x07 \ud800 </pre>" * 1000)
