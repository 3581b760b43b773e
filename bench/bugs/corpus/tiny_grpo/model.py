import torch
import torch.nn.functional as F
from torch import Tensor, nn


class CharLM(nn.Module):
    """One pre-norm transformer block over a handful of symbols. Takes left-padded batches."""

    def __init__(self, vocab: int, width: int = 32, heads: int = 2, max_len: int = 24, dropout: float = 0.1):
        super().__init__()
        self.heads = heads
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(max_len, width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids: Tensor, attn: Tensor) -> Tensor:
        B, T = ids.shape
        where = (attn.long().cumsum(1) - 1).clamp_min(0)
        x = self.drop(self.tok(ids) + self.pos(where))
        q, k, v = self.qkv(self.norm1(x)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        causal = torch.ones(T, T, dtype=torch.bool, device=ids.device).tril()
        itself = torch.eye(T, dtype=torch.bool, device=ids.device)
        allowed = (causal & attn.bool()[:, None, :]) | itself  # a pad may look at itself, so that no row is empty
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed[:, None])
        x = x + self.drop(self.proj(y.transpose(1, 2).reshape(B, T, -1)))
        x = x + self.drop(self.mlp(self.norm2(x)))
        return self.head(self.norm3(x))
