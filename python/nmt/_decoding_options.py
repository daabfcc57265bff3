"""The section ``decoding`` of docs/options.md.

Made of the table of options by tests/interfaces/library/decoding_options_test.cpp: NMT_UPDATE_DOCS=1.
"""

from typing import Optional, Sequence, TypedDict


class DecodingOptions(TypedDict, total=False):
    """How a translation is searched for. What is not given, or None, is as the model says."""

    #: hypotheses a sentence; 1 = greedy (at least 1 and at most 1000)
    beam_size: Optional[int]
    #: exponent a of the length penalty; 0 = none (at least 0 and at most 10)
    length_penalty: Optional[float]
    #: for a hypothesis of n tokens: ((5 + n) / 6)^a, or n^a (paper, simple)
    length_penalty_form: Optional[str]
    #: a translation has at most max_length_ratio x source + max_length_offset tokens, end symbols counted (at least 0 and at most 1000)
    max_length_ratio: Optional[float]
    #: see max_length_ratio (at least 0 and at most 100000)
    max_length_offset: Optional[int]
    #: minimum number of tokens before the end symbol (at least 0 and at most 100000)
    min_length: Optional[int]
    #: maximum number of tokens for any source, the end symbol counted; 0 = only max_length_ratio and max_length_offset (at least 0 and at most 100000)
    max_length: Optional[int]
    #: a sentence is done when nothing live can win (optimal), also when enough is finished and what lives has fallen behind (heuristic), also when beam_size hypotheses are finished (first) (heuristic, optimal, first)
    stopping: Optional[str]
    #: beta of the coverage penalty (Wu et al. 2016), by which finished hypotheses are ranked again; 0 = none (at least 0 and at most 100)
    coverage_penalty: Optional[float]
    #: no n-gram of this many tokens appears twice; 0 = off (at least 0 and at most 1000)
    no_repeat_ngram_size: Optional[int]
    #: logits of tokens that were written already are divided by this, negative ones multiplied (Keskar et al. 2019); 1 = off (at least 0.01 and at most 100)
    repetition_penalty: Optional[float]
    #: never write <unk>
    ban_unknown: Optional[bool]
    #: target phrases that no translation holds
    banned_phrases: Optional[Sequence[str]]
    #: regular expressions (of ICU) of what stays as it stands, beside what --keep-placeholders finds
    placeholders: Optional[Sequence[str]]
    #: groups of diverse beam search (Vijayakumar et al. 2018); divides beam_size; 1 = off (at least 1 and at most 1000)
    diversity_groups: Optional[int]
    #: what a token costs for each time that an earlier group has chosen it in the same step (at least 0 and at most 100)
    diversity_strength: Optional[float]
    #: sampling: logits are divided by it (at least 0.01 and at most 100)
    temperature: Optional[float]
    #: sampling: only among this many most probable tokens; 0 = all (at least 0)
    top_k: Optional[int]
    #: sampling: only among the fewest most probable tokens whose probabilities sum to this; 1 = all (above 0 and at most 1)
    top_p: Optional[float]
    #: of sampling (at least 0)
    seed: Optional[int]
    #: take the candidate that is most like all others by this score (minimum Bayes risk): of a beam by their probabilities, of samples by how often they are drawn (none, chrf, bleu)
    mbr: Optional[str]
    #: mbr with sampling: draw this many candidates (at least 2 and at most 10000)
    mbr_samples: Optional[int]
    #: a translation that repeats itself or is cut far behind its source is searched once more, without n-grams that come twice
    retry_loops: Optional[bool]
    #: several models vote by the mean of their probabilities or of their log-probabilities (linear, log_linear)
    combination: Optional[str]
    #: decoder layer whose attention to the source is shown and counted, from 1; 0 = the last but one (at least 0 and at most 1000)
    alignment_layer: Optional[int]
    #: head of that layer which aligns words, from 1; 0 = the mean of all heads (at least 0 and at most 1000)
    alignment_head: Optional[int]
    #: a target token is aligned by the attention of the step that writes it (output) or of the step that reads it (input, Chen et al. 2020) (output, input)
    alignment_token: Optional[str]
    #: sentences that are translated together (at least 1 and at most 100000)
    batch_size: Optional[int]
    #: of weights in products; auto: bf16 where the processor or GPU computes in it, else fp16 on a GPU that computes in that, else fp32; fp16 for GPUs, int8 for CPUs (auto, fp32, bf16, fp16, int8)
    precision: Optional[str]
    #: which of the model's target languages is wanted, where tags of its vocabulary (>>en<<) say so; unset: a tag at the beginning of each line
    target_language: Optional[str]
    #: write only with candidates: this many for each source piece, by the model's lexicon (data.shortlist), and the most frequent pieces; 0 = with all pieces (at least 0 and at most 10000)
    shortlist: Optional[int]
    #: shortlist: this many target pieces, the most frequent ones, are candidates of every sentence (at least 1 and at most 1000000)
    shortlist_frequent: Optional[int]
    #: language of the source, of a model that is told both (M2M-100, NLLB); unset: the model's own
    source_language: Optional[str]
