"""Similarities block by block are those of the whole matrix."""

import numpy as np

from app.library import vector_table
from app.library.vector_table import Labels, Rows


def test_blocks_give_every_cosine() -> None:
    count = 2 * vector_table._BLOCK + 17
    chance = np.random.default_rng(7)
    matrix = chance.normal(size=(count, 24)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    ids = tuple(f"p{number}" for number in range(count))
    same = Labels.of("en" for _ in ids)
    rows = Rows(1, ids, {id_: number for number, id_ in enumerate(ids)}, matrix, same, same, same, ())
    queries = chance.normal(size=(3, 24)).astype(np.float32)
    found = rows.similarities(queries.tolist())
    for query, own in zip(queries, found, strict=True):
        expected = matrix @ (query / np.linalg.norm(query))
        assert np.allclose(own._cosines, expected, atol=1e-5)
        assert own.best(1)[0][0] == f"p{int(expected.argmax())}"


def test_a_query_of_another_length_is_like_nothing() -> None:
    same = Labels.of(["en"])
    rows = Rows(1, ("p",), {"p": 0}, np.ones((1, 4), np.float32) / 2, same, same, same, ())
    assert rows.similarities([[1.0, 0.0]])[0].of(["p"]) == {"p": 0.0}
