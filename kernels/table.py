"""The kernels that are compiled: one row each, with the sizes fixed in it, and the types of parameters by name."""

import dataclasses

from kernels import adam, attention, embedding, loss, normalise, search

# Parameters have one type wherever their name stands, but for Instance.types.
TYPES = {"*bf16": "q_ptr k_ptr v_ptr out_ptr dout_ptr dq_ptr dk_ptr dv_ptr x_ptr r_ptr y_ptr n_ptr dn_ptr dy_ptr "
                  "dx_ptr dr_ptr h_ptr dh_ptr logits table position_table copy qkv_ptr cache kv_ptr",
         "*fp32": "r_bias_ptr weight_ptr bias_ptr statistics parts sums losses scale_ptr dtable angles_ptr weights "
                  "first_moment second_moment gradient control options rate_ptr pair part_values part_sums",
         "*fp64": "betas totals ended penalties",
         "*i32": "tiles query_segments key_segments positions words labels order pieces entries ancestors sources "
                 "part_words history sentences",
         "*i64": "key_ptr places steps",
         "i32": "q_stride kv_stride out_stride dq_stride dkv_stride causal site rows columns stride width has_r "
                "dy_place has_relu has_positions classes count beam capacity part_count stopping",
         "fp32": "scale p direction centred epsilon smoothing"}
TYPE_OF = {name: kind for kind, names in TYPES.items() for name in names.split()}
# Multiples of 16, which the code relies on: these numbers of elements, and all addresses but those of single numbers.
SIXTEENS = {"q_stride", "kv_stride", "out_stride", "dq_stride", "dkv_stride", "stride", "width", "columns"}
SINGLE = {"key_ptr", "scale_ptr", "rate_ptr", "steps"}

ALL, HOPPER = (80, 90), (90,)  # compute capabilities; HOPPER alone where code for 8.0 spills registers


@dataclasses.dataclass(frozen=True)
class Instance:
    name: str
    function: object
    constants: dict
    warps: int
    types: dict = dataclasses.field(default_factory=dict)  # others than TYPES
    capabilities: tuple = ALL

    def parameters(self):
        """[(name, type, a multiple of 16)] without those that are fixed, in order."""
        return [(name, self.types.get(name, TYPE_OF[name]),
                 name in SIXTEENS or (name not in SINGLE and TYPE_OF[name].startswith("*")))
                for name in self.function.arg_names if name not in self.constants]


def instances():
    rows = []
    for head, tile, forward_queries, backward_queries, forward_warps, backward_warps, capabilities in (
            (64, 64, 64, 64, 4, 4, ALL), (64, 128, 128, 128, 8, 8, HOPPER),
            (128, 64, 64, 32, 4, 8, ALL), (128, 128, 32, 16, 8, 8, HOPPER)):
        rows += [Instance(f"attention_forward_{head}_{tile}", attention.attention_forward,
                          {"D": head, "T": tile, "M": forward_queries}, forward_warps, capabilities=capabilities),
                 Instance(f"attention_backward_{head}_{tile}", attention.attention_backward,
                          {"D": head, "T": tile, "M": backward_queries}, backward_warps, capabilities=capabilities)]
    rows += [Instance(f"rotate_{head}", attention.rotate, {"D": head, "ROWS": 16}, 4) for head in (64, 128)]
    for width, forward_rows, forward_warps, backward_rows, backward_warps in ((256, 8, 4, 2, 1), (512, 8, 4, 2, 1),
                                                                              (1024, 4, 8, 4, 8)):
        rows += [Instance(f"residual_norm_forward_{width}", normalise.residual_norm_forward,
                          {"BLOCK": width, "ROWS": forward_rows}, forward_warps),
                 Instance(f"residual_norm_backward_{width}", normalise.residual_norm_backward,
                          {"BLOCK": width, "ROWS": backward_rows}, backward_warps)]
    wide = {"BLOCK": 512, "ROWS": 8}
    rows += [Instance("relu_dropout", normalise.relu_dropout, wide, 4),
             Instance("relu_backward", normalise.relu_backward, wide, 4),
             Instance("sum_parts", normalise.sum_parts, {"BLOCK": 64}, 4),
             Instance("smoothed_cross_entropy", loss.smoothed_cross_entropy, {"BLOCK": 4096}, 16),
             Instance("paired_cross_entropy", loss.paired_cross_entropy, {"BLOCK": 2048}, 16),
             Instance("embedding_forward", embedding.embedding_forward, {"BLOCK": 256, "ROWS": 4}, 4),
             Instance("embedding_pieces", embedding.embedding_pieces, {"BLOCK": 256, "ROWS": 16}, 4),
             Instance("embedding_words", embedding.embedding_words, {"BLOCK": 256, "ROWS": 16}, 4)]
    for suffix, kind in (("", "*fp32"), ("_bf16", "*bf16")):
        rows += [Instance("squared_norm" + suffix, adam.squared_norm, {"BLOCK": 4096}, 8, {"gradient": kind}),
                 Instance("adam" + suffix, adam.adam, {"BLOCK": 2048}, 4, {"gradient": kind})]
    rows.append(Instance("adam_control", adam.adam_control, {"BLOCK": 512}, 4))
    for head, warps in ((64, 1), (128, 2)):
        rows += [Instance(f"self_attention_step_{head}", search.self_attention_step, {"D": head, "T": 32}, warps),
                 Instance(f"source_attention_step_{head}", search.source_attention_step, {"D": head, "T": 32}, 4)]
    for beams, kept, warps in ((1, 2, 1), (4, 8, 4), (8, 16, 4)):  # beams up to so many, of whose rows one more is kept
        rows += [Instance(f"best_of_parts_{beams}", search.best_of_parts, {"BLOCK": 4096, "K": kept}, 8),
                 Instance(f"choose_beams_{beams}", search.choose_beams, {"B": beams, "K": kept, "PARTS": 16}, warps)]
    return {row.name: row for row in rows}
