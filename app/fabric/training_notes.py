"""What a training estimate assumed, in both languages."""

from __future__ import annotations

from app.fabric.calculation import Bilingual
from app.fabric.job import Job

_STACKS = {
    "megatron-2022": Bilingual(
        "Software as in Megatron-LM 2022: unfused attention, no traffic hidden behind compute.",
        "软件按 2022 年 Megatron-LM：注意力未融合，通信不与计算重叠。",
    ),
    "fsdp": Bilingual(
        "Software as PyTorch FSDP in llm-foundry: its gathers overlap, but the measured steps are as long as if they "
        "did not, because they take cores and memory from the compute.",
        "软件按 llm-foundry 的 PyTorch FSDP：聚合虽与计算重叠，但实测步长与不重叠相当，因其占用计算核与显存带宽。",
    ),
    "megatron-core": Bilingual(
        "Software as Megatron-Core today: fused attention, and most of the traffic hidden behind compute; the hidden "
        "share is fitted to one published run.",
        "软件按当前 Megatron-Core：注意力融合，多数通信隐藏在计算之后；隐藏比例按一次公开运行拟合。",
    ),
}
_SUSTAINED = Bilingual(
    "Matrix products keep 66 to 94 % of the best measured single-product rate over a whole step.",
    "整步内矩阵乘保持单次最佳实测速率的 66% 至 94%。",
)
_BALANCED = Bilingual(
    "Experts are taken as evenly loaded; all-to-all sends every token to each of its experts.",
    "专家负载按均衡计；all-to-all 将每个词元发往其全部专家。",
)
_STEADY = Bilingual(
    "A steady step: no data loading, evaluation, checkpoint or failure.",
    "稳态步：不含数据加载、评测、检查点与故障。",
)


def assumptions_of(job: Job, fits: bool, memory_gbytes: float) -> tuple[Bilingual, ...]:
    """The assumptions behind one estimate."""
    notes = [_STACKS[job.stack], _SUSTAINED] if job.stack in _STACKS else [_SUSTAINED]
    if not fits:
        notes.insert(
            0,
            Bilingual(
                f"This layout needs about {memory_gbytes:.0f} GB per GPU without offload or further recomputation: "
                "more than there is.",
                f"不做卸载或更多重算时，该并行方案每 GPU 约需 {memory_gbytes:.0f} GB，超出显存。",
            ),
        )
    if job.model.experts is not None:
        notes.append(_BALANCED)
    notes.append(_STEADY)
    return tuple(notes)
