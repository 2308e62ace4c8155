"""Optimizers that torch.optim has not: this project's own, by multi-tensor functions, state as torch.optim's."""

import torch


class Moments(torch.optim.Optimizer):
    """What Adam and LAMB share: moving averages of the gradient and of its square."""

    def __init__(self, groups, lr, betas, eps):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": 0.0})

    def averaged(self, group, scale=None):
        """Parameters with gradients, their averages after this step, the step's number."""
        parameters = [p for p in group["params"] if p.grad is not None]
        gradients = [p.grad for p in parameters]
        for p in parameters:
            if not self.state[p]:
                self.state[p] = {"exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
        first = [self.state[p]["exp_avg"] for p in parameters]
        second = [self.state[p]["exp_avg_sq"] for p in parameters]
        if scale is not None:
            torch._foreach_mul_(gradients, scale)
        beta1, beta2 = group["betas"]
        torch._foreach_lerp_(first, gradients, 1 - beta1)
        torch._foreach_mul_(second, beta2)
        torch._foreach_addcmul_(second, gradients, gradients, 1 - beta2)
        group["step"] = group.get("step", 0) + 1
        return parameters, first, second, group["step"]


class AdamWUncorrected(Moments):
    """AdamW without bias correction, as BERT's fine-tuning was published."""

    def __init__(self, groups, lr, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(groups, lr, betas, eps)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            parameters, first, second, _ = self.averaged(group)
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
            root = torch._foreach_sqrt(second)
            torch._foreach_add_(root, group["eps"])
            torch._foreach_addcdiv_(parameters, first, root, -group["lr"])


class Lamb(Moments):
    """You et al. 2020, arXiv:1904.00962, with bias correction, gradients clipped to a global norm of 1 and a trust
    ratio of 1 for what does not decay."""

    def __init__(self, groups, lr, betas=(0.9, 0.999), eps=1e-6):
        super().__init__(groups, lr, betas, eps)

    @torch.no_grad()
    def step(self):
        gradients = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
        norm = torch.stack(torch._foreach_norm(gradients)).norm()
        scale = 1 / torch.clamp(norm, min=1.0)
        for group in self.param_groups:
            self.update(group, scale)

    def update(self, group, scale):
        parameters, first, second, step = self.averaged(group, scale)
        beta1, beta2 = group["betas"]
        change = torch._foreach_sqrt(second)  # in place from here on: one copy of the parameters beside them
        torch._foreach_div_(change, (1 - beta2**step) ** 0.5)
        torch._foreach_add_(change, group["eps"])
        torch._foreach_mul_(change, 1 - beta1**step)
        torch._foreach_reciprocal_(change)
        torch._foreach_mul_(change, first)
        if group["weight_decay"] == 0:
            torch._foreach_add_(parameters, change, alpha=-group["lr"])
            return
        torch._foreach_add_(change, parameters, alpha=group["weight_decay"])
        sizes, lengths = torch._foreach_norm(parameters), torch._foreach_norm(change)
        ratios = [torch.where((w > 0) & (u > 0), w / u, 1.0) for w, u in zip(sizes, lengths)]
        torch._foreach_mul_(change, ratios)
        torch._foreach_add_(parameters, change, alpha=-group["lr"])
