"""ResNet-50 and BERT-Large in eager PyTorch with no package beside torch: the peer on a machine that has torch alone.

    python3 bench/peers/plain.py --model resnet50|bert --inputs BATCH [--device cuda:0] [--precision fp32|tf32|bf16]
                                 [--threads 2] [--first]

Answers requests on stdin (peer.py). BATCH is a safetensors file as tbd writes it, of `resnet50` or of `bert` in
configuration `squad`. Idiomatic training: channels last, autocast for bf16, cudnn.benchmark, fused updates: SGD with
momentum (He et al. 2016, v1.5) and AdamW (Devlin et al. 2019, fine-tuning).
"""

import contextlib

import torch
from torch import nn
from torch.nn import functional

import peer


def read_batch(path):
    types = {"F32": torch.float32, "I32": torch.int32}
    return {name: torch.frombuffer(bytearray(data), dtype=types[dtype]).reshape(shape)
            for name, dtype, shape, data in peer.safetensors_entries(path)}


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False),
                                            nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
        inputs = 64
        for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for block in range(blocks):
                layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
                inputs = 4 * width
        self.body, self.fc = nn.Sequential(*layers), nn.Linear(inputs, 1000)

    def loss(self, batch):
        logits = self.fc(self.body(batch["image"]).mean((2, 3)))
        return functional.cross_entropy(logits, batch["label"])

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True)


class Layer(nn.Module):
    def __init__(self, width, heads, inner, rate):
        super().__init__()
        self.heads, self.rate = heads, rate
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down, self.norm2 = nn.Linear(width, inner), nn.Linear(inner, width), nn.LayerNorm(width, eps=1e-12)
        self.drop = nn.Dropout(rate)

    def forward(self, x, mask):
        samples, length, width = x.shape

        def split(y):
            return y.view(samples, length, self.heads, width // self.heads).transpose(1, 2)

        y = functional.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)),
                                                    attn_mask=mask, dropout_p=self.rate)
        x = self.norm1(x + self.drop(self.out(y.transpose(1, 2).reshape(samples, length, width))))
        return self.norm2(x + self.drop(self.down(functional.gelu(self.up(x)))))


class Bert(nn.Module):
    """BERT-Large that answers questions: the start and the end of the answer among the tokens."""

    def __init__(self, width=1024, layers=24, heads=16, words=30522, places=512, rate=0.1):
        super().__init__()
        self.words, self.places, self.types = nn.Embedding(words, width), nn.Embedding(places, width), nn.Embedding(2, width)
        self.norm, self.drop = nn.LayerNorm(width, eps=1e-12), nn.Dropout(rate)
        self.layers = nn.ModuleList(Layer(width, heads, 4 * width, rate) for _ in range(layers))
        self.ends = nn.Linear(width, 2)
        for weight in (self.words.weight, self.places.weight, self.types.weight):
            nn.init.normal_(weight, std=0.02)

    def loss(self, batch):
        ids = batch["input_ids"]
        at = torch.arange(ids.shape[1], device=ids.device)
        x = self.drop(self.norm(self.words(ids) + self.places(at) + self.types(batch["token_type_ids"])))
        mask = batch["attention_mask"].bool()[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        start, end = self.ends(x).unbind(2)
        return (functional.cross_entropy(start, batch["start"]) + functional.cross_entropy(end, batch["end"])) / 2

    def optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-5, weight_decay=0.01, fused=True)


def stepper(arguments):
    device = torch.device(arguments.device)
    low = arguments.precision == "bf16"
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.precision == "tf32"
    network = {"resnet50": ResNet50, "bert": Bert}[arguments.model]().to(device, memory_format=torch.channels_last)
    batch = {}
    for name, value in read_batch(arguments.inputs).items():
        value = (value if value.is_floating_point() else value.long()).to(device)
        batch[name] = value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value
    optimizer = network.optimizer()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16) if low else contextlib.nullcontext():
            loss = network.loss(batch)
        loss.backward()
        optimizer.step()
        return loss.item()  # waits for the device, as a program that logs its loss does

    return step


def main():
    parser = peer.arguments_parser()
    parser.add_argument("--model", choices=("resnet50", "bert"), required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    step = stepper(arguments)
    peer.train("python", step, lambda: {"rss_bytes": peer.status_bytes("VmHWM")}, arguments.first)


if __name__ == "__main__":
    main()
