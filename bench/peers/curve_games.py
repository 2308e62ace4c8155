"""Games of Go as a Python program reads them: each move's position, as AlphaGo Zero's planes show it."""

import re

import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

MOVES = 8  # positions that are shown: this one and those before it


class Board:
    """Stones by point: 1 Black's, -1 White's, 0 none."""

    def __init__(self, side):
        self.side, self.stones = side, [0] * side**2

    def neighbours(self, point):
        row, column = divmod(point, self.side)
        if row > 0:
            yield point - self.side
        if row + 1 < self.side:
            yield point + self.side
        if column > 0:
            yield point - 1
        if column + 1 < self.side:
            yield point + 1

    def capture(self, point):
        """Takes the chain from the board if it has no liberty."""
        chain, unseen = {point}, [point]
        while unseen:
            for other in self.neighbours(unseen.pop()):
                if self.stones[other] == 0:
                    return
                if self.stones[other] == self.stones[point] and other not in chain:
                    chain.add(other)
                    unseen.append(other)
        for stone in chain:
            self.stones[stone] = 0

    def play(self, point, colour):
        self.stones[point] = colour
        for other in self.neighbours(point):
            if self.stones[other] == -colour:
                self.capture(other)


def samples_of(text):
    """Planes, move and winner of each position of a game; a pass is the last move."""
    side = int(re.search(r"SZ\[(\d+)\]", text)[1])
    winner = 1 if re.search(r"RE\[([BW])", text)[1] == "B" else -1
    board, history = Board(side), [[0] * side**2] * MOVES
    for name, place in re.findall(r";([BW])\[(\w*)\]", text):
        colour = 1 if name == "B" else -1
        stones = torch.tensor(history[:-MOVES - 1:-1]).view(MOVES, side, side) * colour
        planes = torch.stack((stones == 1, stones == -1), 1).flatten(0, 1)
        move = (ord(place[1]) - ord("a")) * side + ord(place[0]) - ord("a") if place else side**2
        yield torch.cat((planes, torch.full((1, side, side), colour == 1))), move, winner
        if place:
            board.play(move, colour)
        history.append(list(board.stones))


def read(folder):
    samples = [sample for file in sorted(folder.glob("*.sgf")) for sample in samples_of(file.read_text())]
    planes, moves, winners = zip(*samples)
    return TensorDataset(torch.stack(planes), torch.tensor(moves), torch.tensor(winners, dtype=torch.float32))


class Games:
    def __init__(self, folder, network, batch):
        self.training = DataLoader(read(folder / "train"), batch, shuffle=True, drop_last=True, collate_fn=self.turned)
        self.held_out = DataLoader(read(folder / "val"), batch)
        self.resolution = {"policy_top1": 1 / len(self.held_out.dataset)}

    def turned(self, samples):
        """Each by one of the eight symmetries of a board."""
        planes, moves, winners = (torch.stack(side) for side in zip(*samples))
        side = planes.shape[2]
        points = torch.arange(side**2).view(side, side)
        for number, symmetry in enumerate(torch.randint(8, (len(moves),)).tolist()):
            turn = lambda x: torch.rot90(x.flip(-1) if symmetry > 3 else x, symmetry % 4, (-2, -1))
            planes[number] = turn(planes[number])
            if moves[number] < side**2:
                moves[number] = (turn(points).flatten() == moves[number]).nonzero()
        return planes, moves, winners

    def batch(self, loaded):
        planes, moves, winners = loaded
        choices = functional.one_hot(moves, planes.shape[2]**2 + 1).float()
        return {"x": planes.float().contiguous(memory_format=torch.channels_last), "pi": choices, "z": winners}

    def evaluate(self, recipe, network):
        right = loss = 0
        for batch in map(self.batch, self.held_out):
            policy, _ = network(batch["x"])
            right += (policy.argmax(1) == batch["pi"].argmax(1)).sum().item()
            loss += recipe.loss(network, batch).item() * len(policy)
        samples = len(self.held_out.dataset)
        return {"policy_top1": right / samples, "loss": loss / samples}
