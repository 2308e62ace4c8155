"""Seq2seq with Luong attention fed back: this project's own PyTorch program of the arithmetic and the state_dict names
of fairseq's `lstm` architecture, with torch's fused LSTM and LSTM cells; step_against_reference.py holds both against
each other.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD = 1


class Encoder(nn.Module):
    def __init__(self, words, width, dropout):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width, PAD)
        self.lstm = nn.LSTM(width, width, num_layers=2, dropout=dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, lengths):
        x = self.dropout(self.embed_tokens(src))
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        y, state = self.lstm(packed)
        return self.dropout(pad_packed_sequence(y, batch_first=True, total_length=src.shape[1])[0]), state


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.input_proj = nn.Linear(width, width, bias=False)
        self.output_proj = nn.Linear(2 * width, width, bias=False)

    def forward(self, query, memory, mask):
        scores = torch.bmm(memory, self.input_proj(query).unsqueeze(2)).squeeze(2)
        shares = scores.masked_fill(mask, -torch.inf).softmax(1)
        context = torch.bmm(shares.unsqueeze(1), memory).squeeze(1)
        return torch.tanh(self.output_proj(torch.cat((context, query), 1)))


class Decoder(nn.Module):
    def __init__(self, words, width, dropout):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width, PAD)
        self.layers = nn.ModuleList([nn.LSTMCell(2 * width, width), nn.LSTMCell(width, width)])
        self.attention = Attention(width)
        self.fc_out = nn.Linear(width, words)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tgt, memory, mask, state):
        h, c = [list(each) for each in state]
        words = self.dropout(self.embed_tokens(tgt))
        feed, outputs = torch.zeros_like(words[:, 0]), []
        for word in words.unbind(1):
            h[0], c[0] = self.layers[0](torch.cat((word, feed), 1), (h[0], c[0]))
            h[1], c[1] = self.layers[1](self.dropout(h[0]), (h[1], c[1]))
            feed = self.dropout(self.attention(h[1], memory, mask))
            outputs.append(feed)
        return self.fc_out(torch.stack(outputs, 1))


class Luong(nn.Module):
    smoothing = 0.0
    pad = PAD

    def __init__(self, width=512, source_words=17191, target_words=7709, dropout=0.2):
        super().__init__()
        self.encoder = Encoder(source_words, width, dropout)
        self.decoder = Decoder(target_words, width, dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def forward(self, batch):
        memory, state = self.encoder(batch["src"], batch["src_len"])
        return self.decoder(batch["tgt_in"], memory, batch["src"] == PAD, state)
