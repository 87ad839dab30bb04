"""The tables of the two READMEs, made from validation, the eval's baseline and the settings."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from app.accelerators import load_accelerators
from app.commands.validate import reference_rows
from app.fabric.validate_collectives import CheckedCollective, validate_collectives
from app.fabric.validate_fabrics import validate_fabrics
from app.fabric.validate_inference import CheckedInference, validate_inference
from app.fabric.validate_training import CheckedTraining, validate_training
from app.knowledge import load_catalog
from app.serving_data import load_serving
from app.settings import PREFIX, Settings, knowledge_folder
from app.workloads import load_workloads

ROOT = Path(__file__).parent.parent
READMES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}


def main() -> None:
    check = "--check" in sys.argv[1:]
    stale = []
    for language, path in READMES.items():
        old = path.read_text(encoding="utf-8")
        new = old
        for name, table in BLOCKS.items():
            block = f"<!-- begin: {name} (scripts/readme) -->\n{table(language)}\n<!-- end: {name} -->"
            new = re.sub(
                rf"<!-- begin: {name} .*?<!-- end: {name} -->", lambda _, block=block: block, new, flags=re.DOTALL
            )
        if new != old:
            stale.append(path.name)
            if not check:
                path.write_text(new, encoding="utf-8")
    if check and stale:
        sys.exit(f"{', '.join(stale)} not current: run scripts/readme")
    print("current" if not stale else f"written: {', '.join(stale)}")


def accuracy(language: str) -> str:
    rows = [*fabrics(language), *performance(language), *answers(language)]
    head = ("| what | command | result |", "| 内容 | 命令 | 结果 |")[language == "zh"]
    return "\n".join([head, "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])


def fabrics(language: str) -> list[tuple[str, str, str]]:
    rows = validate_fabrics(reference_rows("fabrics"), load_catalog(knowledge_folder() / "catalog"))
    equal = sum(row.matches for row in rows)
    explained = sum(not row.matches and not row.unexplained for row in rows)
    bad = len(rows) - equal - explained
    if language == "zh":
        text = f"{len(rows)} 个公开数字，{equal} 个一致，{explained} 个差异有解释，{bad} 个无解释"
        return [("公开的网络规模", "`fabric-advisor validate fabrics`", text)]
    text = f"{len(rows)} published figures: {equal} equal, {explained} differ with an explanation, {bad} without"
    return [("published fabric sizes", "`fabric-advisor validate fabrics`", text)]


def performance(language: str) -> list[tuple[str, str, str]]:
    """Errors of the performance models: rows that set no constant, and rows looked up after they were frozen."""
    catalog = knowledge_folder() / "catalog"
    accelerators, workloads = load_accelerators(catalog), load_workloads(catalog)
    measured = validate_collectives(reference_rows("collectives"), accelerators)
    steps = validate_training(reference_rows("training"), accelerators, workloads)
    served = validate_inference(reference_rows("inference"), accelerators, workloads.models, load_serving(catalog))
    chinese = language == "zh"
    seen, unseen = ("未用于校准", "冻结后才查到") if chinese else ("calibrated nothing", "found after the freeze")
    names = {
        "collectives": "实测集合通信（256 MiB 以上）" if chinese else "measured collectives of 256 MiB and more",
        "training": "公开的训练单步" if chinese else "published training steps",
        "inference": "公开的推理数据" if chinese else "published figures of serving",
    }
    groups = [
        ("collectives", seen, [row for row in measured if row.size_class == "large" and row.split == "report"]),
        ("collectives", unseen, [row for row in measured if row.size_class == "large" and row.split == "blind"]),
        ("training", seen, [row for row in steps if row.split == "report"]),
        ("training", unseen, [row for row in steps if row.split == "blind"]),
        ("inference", seen, [row for row in served if row.split != "calibrate"]),
    ]
    return [
        (f"{names[kind]}{'，' if chinese else ', '}{how}", f"`fabric-advisor validate {kind}`", errors(rows, chinese))
        for kind, how, rows in groups
    ]


def errors(rows: Sequence[CheckedCollective | CheckedTraining | CheckedInference], chinese: bool) -> str:
    """Rows without a label that explains them: how many, median and worst error."""
    found = sorted(abs(row.error_percent) for row in rows if not row.label)
    middle, worst = median(found), found[-1]
    if chinese:
        return f"{len(found)} 行，误差中位数 {middle:.1f}%，最差 {worst:.0f}%"
    return f"{len(found)} rows: median error {middle:.1f} %, worst {worst:.0f} %"


def answers(language: str) -> list[tuple[str, str, str]]:
    """The committed outcome of the eval set; `fabric-advisor evaluate --update-baseline` writes it."""
    baseline = json.loads((ROOT / "eval" / "baseline.json").read_text(encoding="utf-8"))
    measures, cases = baseline["measures"], baseline["cases"]
    chinese = language == "zh"
    passed = sum(case["passed"] for case in cases.values())
    rows = [("问答用例通过" if chinese else "questions answered as expected", f"{passed} / {len(cases)}")]
    names = {
        "verdict": ("verdict as expected", "结论符合预期"),
        "numbers": ("expected figures exact", "预期数值准确"),
        "unsupported_numbers": ("figures without a source", "无依据的数字"),
        "citation_precision": ("citation precision", "引文精确率"),
        "citation_recall": ("citation recall", "引文召回率"),
        "recall@5[en]": ("recall@5, English", "英文 recall@5"),
        "recall@5[zh]": ("recall@5, Chinese", "中文 recall@5"),
        "refusal_precision": ("refusal precision", "拒答精确率"),
        "refusal_recall": ("refusal recall", "拒答召回率"),
        "agreement": ("agreement of paraphrases and of the two languages", "改写与双语一致率"),
    }
    for name, titles in names.items():
        rows.append((titles[chinese], f"{measures[name]:.3f}".rstrip("0").rstrip(".")))
    return [(title, "`fabric-advisor evaluate`", result) for title, result in rows]


STAGES = {
    "plain": ("tutorial pipeline: all-MiniLM-L6-v2 + Chroma", "教程式流水线：all-MiniLM-L6-v2 + Chroma"),
    "dense": ("nearest vectors alone", "仅向量"),
    "lexical": ("matching words alone", "仅词语"),
    "clear": ("both, clear matches only (for answers)", "两者合并，只要明确匹配（用于回答）"),
    "fused": ("**both, as `search` shows it**", "**两者合并，即 `search` 所示**"),
    "reranked": ("reranked by a cross-encoder", "交叉编码器重排"),
}


def retrieval(language: str) -> str:
    """The kept outcome of `fabric-advisor evaluate retrieval --save`, so that the table needs no model."""
    kept = json.loads((ROOT / "eval" / "retrieval" / "results.json").read_text(encoding="utf-8"))
    chinese = language == "zh"
    measures = ("recall@1", "recall@3", "recall@5", "mrr@10", "ndcg@10")
    languages = {"en": ("English", "英文")[chinese], "zh": ("Chinese", "中文")[chinese]}
    head = ["检索方式" if chinese else "search", "提问语言" if chinese else "asked in", *measures]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "--:|" * len(measures)]
    rows = {(one["stage"], one["language"], one["half"]): one for one in kept["rows"]}
    for stage, titles in STAGES.items():
        for asked, name in languages.items():
            if found := rows.get((stage, asked, "all")):
                values = " | ".join(f"{found[measure]:.3f}" for measure in measures)
                lines.append(f"| {titles[chinese]} | {name} | {values} |")
    report = [rows["fused", asked, "report"]["recall@5"] for asked in languages]
    blind = rows["fused", "zh", "blind"]
    number = sum(sum(halves.values()) for halves in kept["queries"].values())
    if chinese:
        lines.append(
            f"\n{number} 条查询，{kept['documents']} 份文档（含 {kept['distractors']} 份干扰文档），"
            f"{kept['passages']} 个段落；未用于调优的一半：recall@5 英文 {report[0]:.3f}，中文 {report[1]:.3f}；"
            f"{blind['queries']} 条盲写的中文查询：{blind['recall@5']:.3f}。"
        )
    else:
        lines.append(
            f"\n{number} queries over {kept['documents']} documents ({kept['distractors']} of them distractors) in "
            f"{kept['passages']} passages. On the half that nothing was tuned on, recall@5 is {report[0]:.3f} in "
            f"English and {report[1]:.3f} in Chinese; on {blind['queries']} Chinese queries written blind, "
            f"{blind['recall@5']:.3f}."
        )
    return "\n".join(lines)


SETTINGS_ZH = {
    "home": "索引、模型和对话所在的文件夹",
    "knowledge": "资料、目录和术语表所在的文件夹",
    "language": "回答所用语言；auto 随问题而定",
    "model": "builtin，或 LangChain init_chat_model 的 provider:name",
    "models": "对话还可选用的其他模型，provider:name，以逗号分隔",
    "model_choice": "读者能否为对话选择模型；不设：设了 FABRIC_ADVISOR_MODELS 时可以",
    "model_base_url": "OpenAI 兼容服务的地址，用于与 FABRIC_ADVISOR_MODEL 同一提供方的模型",
    "model_api_key": "FABRIC_ADVISOR_MODEL 提供方的密钥（如需要）",
    "model_timeout_s": "等待模型的最长时间，秒",
    "model_context_tokens": "模型一次能读多少 token；未设：由其软件包或服务器告知",
    "embeddings": "e5-small、sentence-transformers:NAME 或 openai:NAME",
    "chroma_url": "Chroma 服务地址；不设则在进程内",
    "database_url": "对话库的 SQLAlchemy 地址；不设则为 HOME/chats.sqlite3",
    "host": "页面监听的地址",
    "port": "页面监听的端口",
    "max_question_chars": "问题的最大长度，字符",
    "max_file_mb": "可导入的最大文件，MB",
    "debug": "显示意外故障的堆栈",
}


def settings(language: str) -> str:
    head = ("| setting | default | meaning |", "| 设置 | 默认值 | 含义 |")[language == "zh"]
    lines = [head, "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default()
        shown = "shipped" if name == "knowledge" else ("" if default is None else str(default))
        meaning = SETTINGS_ZH.get(name, field.description) if language == "zh" else field.description
        lines.append(f"| `{PREFIX}{name.upper()}` | {f'`{shown}`' if shown else '–'} | {meaning} |")
    return "\n".join(lines)


BLOCKS = {"accuracy": accuracy, "retrieval": retrieval, "settings": settings}


if __name__ == "__main__":
    main()
