"""Addresses with passwords, keys and signatures: no message of any command shows them."""

import shlex
import traceback
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import shoal as package
from shoal.support.addresses import address_of, is_database
from shoal.support.files import check_readable, check_writable
from shoal.support.wording import without_secrets

SECRET, USER = "QXZWpass", "QXZWuser"
ADDRESSES = [
    f"s3a://{USER}:{SECRET}@clinic/visits.csv",
    f" s3://{USER}:{SECRET}@clinic/visits.csv",
    f"\ts3://{SECRET}@clinic/visits.csv",
    f"hdfs://{USER}:{SECRET}@clinic:8020/visits.csv",
    f"unheard-of+scheme://{USER}:{SECRET}@clinic/visits.csv",
    f"postgresql+psycopg2://{USER}:{SECRET}@clinic/visits",
    f"postgresql://{USER}:{SECRET}/{SECRET}@clinic/visits",
    f"postgresql://clinic/visits?user={USER}&sslpassword={SECRET}",
    f"  postgres://{USER}:{SECRET}@clinic/visits",
    f"jdbc:postgresql://{USER}:{SECRET}@clinic/visits",
    f"jdbc:postgresql://clinic/visits?user={USER}&password={SECRET}",
    f"jdbc:sqlserver://clinic:1433;user={USER};password={SECRET}",
    f"mysql+pymysql://{USER}:{SECRET}@clinic/visits",
    f"https://clinic/visits.csv?X-Amz-Signature={SECRET}",
    f"https://clinic/visits.csv#access_token={SECRET}",
    f"S3://{USER}:{SECRET}@clinic/visits.csv",
    f"s3:/{USER}:{SECRET}@clinic/visits.csv",
]
ROLES = ("--quasi", "age,town", "--sensitive", "disease")
COMMANDS = {
    "inspect": "inspect ADDRESS",
    "anonymize": f"anonymize ADDRESS {' '.join(ROLES)} -k 2 -o out.csv",
    "anonymize on disk": f"anonymize ADDRESS {' '.join(ROLES)} -k 2 -o out.csv --engine duckdb",
    "an output": f"anonymize people.csv {' '.join(ROLES)} -k 2 -o ADDRESS",
    "a schema": "anonymize people.csv --schema ADDRESS -k 2 -o out.csv",
    "a report": f"anonymize people.csv {' '.join(ROLES)} -k 2 -o out.csv --report ADDRESS",
    "verify": "verify ADDRESS --quasi age -k 2",
    "an original": "verify people.csv --quasi age -k 2 --original ADDRESS",
    "metrics": f"metrics ADDRESS people.csv {' '.join(ROLES)}",
    "a release": f"metrics people.csv ADDRESS {' '.join(ROLES)}",
    "risk records": "risk records ADDRESS --quasi age",
    "risk attack": f"risk attack people.csv ADDRESS {' '.join(ROLES)}",
    "a hierarchy": f"anonymize people.csv {' '.join(ROLES)} -k 2 -o o.csv --hierarchy age=ADDRESS",
    "hierarchy make": "hierarchy make ADDRESS --column age -o tree.csv",
    "keys": "keys reveal ADDRESS --key ADDRESS --column age -o x.csv",
    "a query": "inspect ADDRESS --query x",
    "nothing": "ADDRESS",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_shows_a_secret_of_an_address(shoal, folder, address):
    for command in COMMANDS.values():
        done = shoal(*(word.replace("ADDRESS", address) for word in shlex.split(command)))
        assert done.status == 2, (command, done.err)
        assert done.err.count("shoal: ") == 1
        assert SECRET not in done.out + done.err, command
        assert USER not in done.out + done.err, command


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_source_of_a_project_shows_no_secret(shoal, folder, address):
    tables = {"visits": {"from": address, "columns": {"age": "quasi"}}}
    (folder / "project.yaml").write_text(yaml.safe_dump({"source": address, "tables": tables}))
    done = shoal("anonymize", "project.yaml", "-k", 2, "-o", "out")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert SECRET not in done.err
    assert USER not in done.err


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_error_in_python_shows_a_secret(address, tmp_path):
    for use in (
        lambda: package.read(address, roles={"age": "quasi"}),
        lambda: package.open(address, roles={"age": "quasi"}),
        lambda: package.inspect(address),
        lambda: package.check(address, k=2, quasi=["age"]),
        lambda: check_readable(Path(address)),
        lambda: check_writable(Path(address)),
        lambda: is_database(address) or address_of(address),
    ):
        with pytest.raises(package.errors.ShoalError) as caught:
            use()
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        lines = [line for line in shown.splitlines() if "lambda" not in line]
        assert SECRET not in "".join(lines)
        assert USER not in "".join(lines)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_no_error_about_a_database_shows_its_host_or_user(shoal, folder, monkeypatch, scheme):
    rows = pa.table({"age": [31, 47], "town": ["a", "b"], "weight": ["x", "y"]})
    monkeypatch.setattr("shoal.files.reading.read_query", lambda address, query: rows)
    address = f"{scheme}://QXZWuser@QXZWhost:5432/visits"
    for command in (
        "inspect ADDRESS --query x --quasi height",
        "anonymize ADDRESS --query x --quasi height -k 2",
        "anonymize ADDRESS --query x --quasi age,height -k 2",
        "anonymize ADDRESS --query x --quasi age,weight --weight weight -k 2",
        "verify ADDRESS --query x --quasi height -k 2",
        "risk suda ADDRESS --query x --quasi age --weight weight",
    ):
        done = shoal(*shlex.split(command.replace("ADDRESS", address)))
        assert done.status == 2, (command, done.err)
        assert "QXZW" not in done.out + done.err, command


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "abfss://visits@clinic.example/a.csv: is empty",
            "abfss://…@clinic.example/a.csv: is empty",
        ),
        ("s3:/a:b@clinic/a.csv: is empty", "s3:/…@clinic/a.csv: is empty"),
        ("'https://clinic/a?b=c' differs", "'https://clinic/a?…' differs"),
        ("sc://clinic:15002/;token=abc is not there", "sc://clinic:15002/?… is not there"),
        ("s3://a b:c d@e, gs://f g@h", "s3://…@e, gs://…@h"),
        ("postgresql:/clinic:5432/visits: is empty", "postgresql:/…: is empty"),
        ("'postgres://a@clinic,other/visits', b", "'postgres://…', b"),
        ("jdbc:postgresql://clinic/visits?a=b", "jdbc:postgresql://…"),
        ("postgresql+psycopg2://clinic (visits)", "postgresql+psycopg2://… (visits)"),
        ("write postgresql://host/database.", "write postgresql://host/database."),
        ("C:/people/a@b.csv: is empty", "C:/people/a@b.csv: is empty"),
        ("a@b.csv?c=d: no such file", "a@b.csv?c=d: no such file"),
    ],
)
def test_users_queries_and_hosts_of_databases_are_masked(message, shown):
    assert without_secrets(message) == shown


@pytest.mark.parametrize(
    "address",
    ["s3://clinic/visits-?.csv", "abfss://visits@clinic.example/2024/*.parquet",
     "hdfs://clerk@clinic:8020/visits", "https://clinic:8443/visits.csv", "sftp://clerk@clinic/a"],
)  # fmt: skip
def test_addresses_without_a_secret_are_accepted(address):
    assert address_of(address) == address
    assert address_of(f" {address}") == address


@pytest.mark.parametrize(
    "path", ["visits.csv", "C:/visits.csv", "a@b.csv", "a:b@c.csv", "x?y=z.csv"]
)
def test_ordinary_paths_are_no_addresses(path):
    assert address_of(path) is None
