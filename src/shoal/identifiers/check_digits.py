"""Check digits of numbers that identify people and accounts."""

from __future__ import annotations

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25,
               24, 23)  # fmt: skip
_IBAN_LENGTHS = range(15, 35)


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdigit()]


def is_iban(text: str) -> bool:
    """Return whether the check digits of an IBAN are right (ISO 13616).

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    plain = text.replace(" ", "")
    if len(plain) not in _IBAN_LENGTHS:
        return False
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def is_card(text: str) -> bool:
    """Return whether the check digit of a payment card is right (Luhn).

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(text)
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_nhs_number(text: str) -> bool:
    """Return whether the check digit of a British NHS number is right.

    >>> is_nhs_number("943 476 5919"), is_nhs_number("943 476 5918")
    (True, False)
    """
    digits = _digits(text)
    check = -sum(weight * digit for weight, digit in zip(range(10, 1, -1), digits, strict=False))
    return len(digits) == 10 and check % 11 == digits[9]


def is_bsn(text: str) -> bool:
    """Return whether a Dutch citizen number passes the eleven test.

    >>> is_bsn("111222333"), is_bsn("111222334")
    (True, False)
    """
    digits = _digits(text)
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    total = sum(weight * digit for weight, digit in zip(weights, digits, strict=False))
    return len(digits) == 9 and total != 0 and total % 11 == 0


def is_nir(text: str) -> bool:
    """Return whether the key of a French social security number is right.

    >>> is_nir("1 84 12 76 451 089 46"), is_nir("1 84 12 76 451 089 47")
    (True, False)
    """
    digits = "".join(map(str, _digits(text)))
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


def is_dni(text: str) -> bool:
    """Return whether the letter of a Spanish identity number is right.

    >>> is_dni("12345678Z"), is_dni("12345678A"), is_dni("X1234567L")
    (True, False, True)
    """
    plain = text.replace("-", "")
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdigit() and _DNI_LETTERS[int(number) % 23] == plain[-1]


def is_tax_id(text: str) -> bool:
    """Return whether the check digit of a German tax number is right (ISO 7064, mod 11, 10).

    >>> is_tax_id("86 095 742 719"), is_tax_id("86 095 742 718")
    (True, False)
    """
    digits = _digits(text)
    product = 10
    for digit in digits[:10]:
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return len(digits) == 11 and (11 - product) % 10 == digits[10]


def is_fiscal_code(text: str) -> bool:
    """Return whether the last letter of an Italian fiscal code is right.

    >>> is_fiscal_code("RSSMRA85T10A562S"), is_fiscal_code("RSSMRA85T10A562T")
    (True, False)
    """
    values = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in text]
    odd = sum(_FISCAL_ODD[value] for value in values[0:15:2])
    return (odd + sum(values[1:15:2])) % 26 == values[15]
