"""A certificate authority for tests, and certificates of servers that it signs."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["Authority"]


class Authority:
    """One authority, whose own certificate is `certificate`.

    Parameters
    ----------
    folder : Path
        For what it writes.
    name : str
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(f"{name} authority")
        self.certificate = folder / f"{name}.crt"
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
            key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
            decipher_only=False,
        )  # fmt: skip
        builder = _builder(self._name, self._name, self._key, days=2)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        signed = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())
        self.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def sign(self, name: str, *, address: str | None = None, days: int = 2) -> tuple[bytes, bytes]:
        """Return the certificate and the key of a server, in PEM.

        Parameters
        ----------
        name : str
            Of its host.
        address : str, optional
            By which it may be reached as well.
        days : int
            Until it expires; below 0 it has.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(name)]
        if address is not None:
            names.append(x509.IPAddress(ipaddress.ip_address(address)))
        builder = _builder(_named(name), self._name, key, days=days)
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        encoding = serialization.Encoding.PEM
        plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        return signed.public_bytes(encoding), key.private_bytes(encoding, *plain)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(days=9)).not_valid_after(now + timedelta(days=days))
