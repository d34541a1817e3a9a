"""The example files for proxies and systemd are right, as far as this machine can tell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import click
import pytest

from engine.commands.serve import command
from engine.web.settings import WebSettings

EXAMPLES = Path(__file__).parents[2] / "examples" / "serve"


def unit() -> RawConfigParser:
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(EXAMPLES / "softmark.service", encoding="utf-8")
    return parser


@pytest.mark.parametrize("key", ["ExecStart", "ExecStartPre"])
def test_the_unit_calls_grade_serve_with_options_that_it_has(key: str) -> None:
    program, name, *words = shlex.split(unit()["Service"][key].lstrip("-"))
    assert (Path(program).name, name) == ("grade", "serve")
    command.make_parser(click.Context(command)).parse_args(words)


def test_the_unit_waits_longer_than_the_site_needs_to_end() -> None:
    from engine.web.serving import _DRAIN_S

    assert int(unit()["Service"]["TimeoutStopSec"]) > 2 * _DRAIN_S


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    text = (EXAMPLES / "softmark.service").read_text(encoding="utf-8")
    text = text.replace("/opt/softmark/bin/grade", shutil.which("true") or "/bin/true")
    text = re.sub("(?m)^(User|Group)=.*", r"\1=root", text)
    path = tmp_path / "softmark.service"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "softmark" in line]
    assert ours == []


def blocks(text: str) -> list[str]:
    """Return the words before each opening brace; all braces must be closed."""
    text = re.sub(r"(?m)#.*$", "", text)
    assert text.count("{") == text.count("}")
    return [words.strip() for words in re.findall(r"([^{};\n]+)\{", text)]


def test_nginx() -> None:
    path = EXAMPLES / "nginx.conf"
    text = path.read_text(encoding="utf-8")
    assert blocks(text) == ["server", "location /nlp/"]
    plain = re.sub(r"(?m)#.*$", "", text)
    statements = [line.strip() for line in plain.splitlines() if line.strip()]
    assert all(line.endswith((";", "{", "}")) for line in statements)
    assert "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" in statements
    most = int(re.findall(r"client_max_body_size (\d+)m;", text)[0])
    assert most > WebSettings().most_upload_mib


@pytest.mark.skipif(shutil.which("nginx") is None, reason="there is no nginx here")
def test_nginx_takes_its_file(tmp_path: Path) -> None:
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^\s*ssl_certificate.*$", "", text).replace("listen 443 ssl", "listen 8443")
    (tmp_path / "nginx.conf").write_text(f"events {{}}\nhttp {{\n{text}\n}}\n", encoding="utf-8")
    subprocess.run(["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")], check=True)


def test_caddy() -> None:
    text = (EXAMPLES / "Caddyfile").read_text(encoding="utf-8")
    assert blocks(text) == ["marks.example.edu", "request_body", "reverse_proxy 127.0.0.1:8000"]
    assert int(re.findall(r"max_size (\d+)MB", text)[0]) > WebSettings().most_upload_mib


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy here")
def test_caddy_takes_its_file() -> None:
    arguments = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(EXAMPLES / "Caddyfile")]
    subprocess.run(arguments, check=True, env=os.environ | {"HOME": "/tmp"})
