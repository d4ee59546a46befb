"""The cells of examples/, and how each is measured for docs/gallery.md."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    family: str
    note: str                # what the literature calls it
    time: int = 24           # steps of the stored values; at most 8 where a cell does not contract
    measure: tuple = ()      # options of rnnc run for the sweeps


GATED, LINEAR, AUDIO, DYNAMICS = "Gated cells", "Linear recurrences", "Audio", "Dynamical systems and series"
SMALL = ("--dim", "d=16", "--dim", "m=16")

CELLS = {
    "elman": Cell(GATED, "Elman network", measure=SMALL + ("--dim", "p=4")),
    "elman_heads": Cell(GATED, "Elman network in heads", measure=("--dim", "heads=16")),
    "indrnn": Cell(GATED, "IndRNN", measure=SMALL),
    "gru": Cell(GATED, "GRU", measure=SMALL),
    "gru_head_norm": Cell(GATED, "GRU in heads with layer norm", measure=("--dim", "heads=16", "--dim", "m=16")),
    "paragru": Cell(GATED, "ParaGRU", measure=("--dim", "d=16")),
    "lstm": Cell(GATED, "LSTM", measure=SMALL),
    "peephole_lstm": Cell(GATED, "LSTM with peepholes", measure=SMALL),
    "paralstm": Cell(GATED, "ParaLSTM", measure=("--dim", "d=16")),
    "slstm": Cell(GATED, "sLSTM", measure=("--dim", "heads=16", "--dim", "d=16")),
    "sru": Cell(GATED, "SRU", measure=("--dim", "d=16")),
    "fastgrnn": Cell(GATED, "FastGRNN", measure=SMALL),
    "antisymmetric_rnn": Cell(GATED, "AntisymmetricRNN", measure=SMALL),
    "cornn": Cell(GATED, "coRNN", measure=SMALL),
    "lem": Cell(GATED, "LEM", measure=SMALL),
    "ltc": Cell(GATED, "LTC", measure=SMALL),
    "ema": Cell(LINEAR, "exponential moving average", measure=("--dim", "d=16", "--random", "a:uniform(0.8,0.99)")),
    "mingru": Cell(LINEAR, "minGRU", measure=SMALL),
    "minlstm": Cell(LINEAR, "minLSTM", measure=SMALL),
    "rglru": Cell(LINEAR, "RG-LRU", measure=("--dim", "d=16", "--random", "L:uniform(2,6)")),
    "lru": Cell(LINEAR, "LRU", measure=("--dim", "n=16", "--dim", "m=4", "--dim", "p=4", "--random", "nu:uniform(-4,-1)")),
    "s5": Cell(LINEAR, "S5", measure=("--dim", "n=16", "--dim", "m=4", "--random", "log_step:uniform(-4,-1)")),
    "selective_ssm": Cell(LINEAR, "selective SSM",
                          measure=("--dim", "d=8", "--dim", "n=16", "--dim", "r=2", "--random", "b:normal(-2,1)")),
    "mlstm_sig": Cell(LINEAR, "mLSTM, sigmoid gates",
                      measure=("--dim", "k=4", "--dim", "d=16", "--random", "b_f:normal(2,1)")),
    "mlstm": Cell(LINEAR, "mLSTM", measure=("--dim", "d=16", "--random", "b_f:normal(3,1)")),
    "biquad": Cell(AUDIO, "biquad, coefficients over time",
                   measure=("--dim", "channels=8", "--random", "a_1:uniform(-1.2,-0.8)", "--random", "a_2:uniform(0.5,0.8)")),
    "svf": Cell(AUDIO, "state-variable filter",
                measure=("--dim", "channels=8", "--random", "cutoff:uniform(0.05,0.2)", "--random", "damping:uniform(0.5,1.5)")),
    "moog_ladder": Cell(AUDIO, "Moog ladder",
                        measure=("--dim", "channels=8", "--param", "cutoff=0.25", "--param", "resonance=0.6")),
    "diode_clipper": Cell(AUDIO, "diode clipper", measure=("--dim", "channels=8", "--random", "x:normal(0,5)")),
    "compressor": Cell(AUDIO, "compressor", measure=("--dim", "channels=8", "--random", "x:uniform(-45,0)")),
    "garch": Cell(DYNAMICS, "GARCH(1,1)",
                  measure=("--dim", "series=16", "--random", "r:normal(0,1)", "--random", "omega:uniform(0.05,0.2)", "--random",
                           "alpha:uniform(0.05,0.15)", "--random", "beta:uniform(0.5,0.8)")),
    "fitzhugh_nagumo": Cell(DYNAMICS, "FitzHugh-Nagumo neuron", 8, ("--dim", "n=16", "--random", "current:normal(0.5,0.3)")),
    "lif": Cell(DYNAMICS, "leaky integrate-and-fire neuron", 24, ("--dim", "n=16", "--random", "current:normal(2,3)")),
    "van_der_pol": Cell(DYNAMICS, "stiff Van der Pol oscillator", 8, ("--dim", "n=16")),
    "lorenz": Cell(DYNAMICS, "Lorenz system", 8, ("--dim", "n=16")),
    "henon": Cell(DYNAMICS, "Hénon map", 8, ("--dim", "n=16", "--random", "noise:normal(0,0.001)")),
    "logistic_map": Cell(DYNAMICS, "logistic map", 6, ("--dim", "n=16")),
}
