"""Dispatch cost: the session, a straight-line ATen program and eager Python on one tiny network, interleaved.

    python3 bench/mlp20_peer.py --build BUILD --peers ENVIRONMENT [--rounds 20] [--steps 200]

ENVIRONMENT is what bench/peers/setup.sh made. One thread each.
"""

import argparse
import json
import os

from interleave import PEERS, Served, header, interleaved, verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    ours = Served([os.path.join(arguments.build, "bench/bench_pytorch_dispatch"), "--threads", "1"], 1)
    python = Served([os.path.join(arguments.peers, "bin/python"), os.path.join(PEERS, "mlp20.py"), "--threads", "1"], 1)
    medians, _ = interleaved([ours, python], arguments.rounds, arguments.steps)
    best = min((name for name in medians if name.startswith("python")), key=medians.get)
    header()
    rows = [verdict(f"20-layer perceptron, step s, to {best}", medians["tbd"], medians[best], 0.70),
            verdict("20-layer perceptron, step s, to straight ATen", medians["tbd"], medians["straight_line"], 1.05)]
    print(json.dumps({"medians_s": medians, "rows": rows}))
    ours.close(), python.close()


if __name__ == "__main__":
    main()
