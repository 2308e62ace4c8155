"""An iteration of WGAN-GP in idiomatic eager PyTorch: one step of the generator, five of the critic (training.py)."""

import sys

import torch
from torch import nn
from torch.nn.functional import avg_pool2d, interpolate, relu

import training

# Widths from 4 x 4 up, noise, steps of the critic.
SIZES = {"canonical": ((512, 512, 256, 128, 64), 128, 5), "tiny": ((32, 16, 8), 16, 2)}


def conv3(into, out, bias):
    return nn.Conv2d(into, out, 3, padding=1, bias=bias)


class Up(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.BN1, self.BN2 = (nn.BatchNorm2d(width, track_running_stats=False) for width in (into, out))
        self.Shortcut = nn.Conv2d(into, out, 1)
        self.Conv1, self.Conv2 = conv3(into, out, False), conv3(out, out, True)

    def forward(self, x):
        y = self.Conv1(interpolate(torch.relu_(self.BN1(x)), scale_factor=2))
        return self.Shortcut(interpolate(x, scale_factor=2)) + self.Conv2(torch.relu_(self.BN2(y)))


class Down(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.BN1, self.BN2 = nn.GroupNorm(1, into), nn.GroupNorm(1, into)
        self.Shortcut = nn.Conv2d(into, out, 1)
        self.Conv1, self.Conv2 = conv3(into, into, False), conv3(into, out, True)

    def forward(self, x):
        y = self.Conv1(relu(self.BN1(x)))
        return self.Shortcut(avg_pool2d(x, 2)) + avg_pool2d(self.Conv2(relu(self.BN2(y))), 2)


def add_blocks(network, block, widths):
    """Res1, Res2, ... of the network, in a row."""
    blocks = [block(*pair) for pair in zip(widths, widths[1:])]
    for i, each in enumerate(blocks, 1):
        network.add_module(f"Res{i}", each)
    return blocks


class Generator(nn.Module):
    def __init__(self, widths, noise):
        super().__init__()
        self.first = widths[0]
        self.Input = nn.Linear(noise, 16 * widths[0])
        self.blocks = add_blocks(self, Up, widths)
        self.OutputN, self.Output = nn.BatchNorm2d(widths[-1], track_running_stats=False), conv3(widths[-1], 3, True)

    def forward(self, z):
        x = self.Input(z).view(-1, self.first, 4, 4).contiguous(memory_format=torch.channels_last)
        for block in self.blocks:
            x = block(x)
        return torch.tanh(self.Output(torch.relu_(self.OutputN(x))))


class Critic(nn.Module):
    def __init__(self, widths):
        super().__init__()
        widths = widths[::-1]
        self.Input = conv3(3, widths[0], True)
        self.blocks = add_blocks(self, Down, widths)
        self.Output = nn.Linear(16 * widths[-1], 1)

    def forward(self, image):
        x = self.Input(image)
        for block in self.blocks:
            x = block(x)
        return self.Output(x.flatten(1))


class Pair(nn.Module):
    def __init__(self, widths, noise, critic_steps):
        super().__init__()
        self.Generator, self.Discriminator, self.critic_steps = Generator(widths, noise), Critic(widths), critic_steps


def initialise(network):
    """As igul222/improved_wgan_training: He's variance, by both fans, before a relu, Glorot's elsewhere."""
    for name, module in network.named_modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            before_relu = name.endswith(("Conv1", "Conv2")) or name == "Generator.Output"
            nn.init.xavier_uniform_(module.weight, nn.init.calculate_gain("relu" if before_relu else "linear"))
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def build(config="canonical", dropout=True):
    network = Pair(*SIZES[config])
    initialise(network)
    return network.to(memory_format=torch.channels_last)


def critic_loss(network, real, z, alpha):
    with torch.no_grad():
        fake = network.Generator(z)
    critic = network.Discriminator
    between = (real + alpha * (fake - real)).requires_grad_()
    gradient, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    norm = (gradient.square().sum((1, 2, 3)) + 1e-12).sqrt()
    return (critic(fake) - critic(real)).mean() + 10 * (norm - 1).square().mean()


class Both:
    """The optimizers of both networks."""

    def __init__(self, *optimizers):
        self.optimizers = optimizers

    def zero_grad(self, set_to_none=True):
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=set_to_none)

    @property
    def state(self):
        return {parameter: state for optimizer in self.optimizers for parameter, state in optimizer.state.items()}


def nothing():
    pass


def update_generator(network, optimizer, z, on_gradients=nothing):
    optimizer.zero_grad(set_to_none=True)
    network.Discriminator.requires_grad_(False)
    loss = (-network.Discriminator(network.Generator(z))).mean()
    loss.backward()
    network.Discriminator.requires_grad_(True)
    on_gradients()
    optimizer.step()
    return loss.item()


def update_critic(network, optimizer, real, z, alpha, on_gradients=nothing):
    optimizer.zero_grad(set_to_none=True)
    loss = critic_loss(network, real, z, alpha)
    loss.backward()
    on_gradients()
    optimizer.step()
    return loss.item()


def optimizers_of(network, **form):
    """Of the generator and of the critic."""
    adam = {"lr": 1e-4, "betas": (0.0, 0.9), "eps": 1e-8, **form}
    return [torch.optim.Adam(each.parameters(), **adam) for each in (network.Generator, network.Discriminator)]


def stepper(network, batch, precision="fp32", loss_of=None, on_gradients=nothing, **form):
    """The generator from the second iteration on. A step gives the losses of its phases."""
    generator, critic = optimizers_of(network, **form)
    started = False

    def step():
        nonlocal started
        losses = {"generator": update_generator(network, generator, batch["z"], on_gradients)} if started else {}
        started = True
        for run in range(network.critic_steps):
            inputs = (batch[f"critic.{run}/{name}"] for name in ("real", "z", "alpha"))
            loss = update_critic(network, critic, *inputs, on_gradients)
        return losses | {"critic": loss}

    return step, Both(generator, critic)


if __name__ == "__main__":
    training.main(sys.modules[__name__])
