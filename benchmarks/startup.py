"""How long ``grade --help`` takes, as a whole process (median of 21), and whether torch stays out."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three times, to see that it works")
    seconds = []
    for _ in range(3 if parser.parse_args().quick else 21):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "cli", "--help"], capture_output=True, check=True)
        seconds.append(time.perf_counter() - begun)
    print(
        f"grade --help: median {1000 * statistics.median(seconds):.0f} ms, max {1000 * max(seconds):.0f} ms"
    )
    script = "import sys, cli\ntry: cli.main(['--help'])\nexcept SystemExit: print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    print(f"torch imported: {done.stdout.splitlines()[-1]}")


if __name__ == "__main__":
    main()
