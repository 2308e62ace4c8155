#include "runner/equivalence/script.h"

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "graph/ops/python.h"
#include "runner/equivalence/equivalence.h"

namespace tbd {
namespace {

constexpr const char* kReader = R"(

def load(path):
    """The tensors of a safetensors file: 8 bytes of header length, a JSON header, the bytes."""
    with open(os.path.join(HERE, path), "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


operands = load("operands.safetensors")
expected = load("expected.safetensors")   # float64, of the same float32 operands
recorded = load("got.safetensors")        # what the framework gave when the difference was found
)";

constexpr const char* kVerdict = R"(
failed = False
for name in sorted(expected):
    value = result.get(name)
    if value is None:
        print(f"{name}: not computed by this script")
        continue
    value = np.reshape(value, expected[name].shape) if expected[name].ndim == 0 else np.asarray(value)
    difference = np.abs(value.astype(np.float64) - expected[name])
    at = np.unravel_index(np.argmax(difference), difference.shape) if difference.ndim else ()
    print(f"{name}: largest difference {np.max(difference):.3e} at {tuple(int(i) for i in at)}: "
          f"{value[at]!r} here, {expected[name][at]!r} expected"
          + (f", {recorded[name][at]!r} recorded" if name in recorded else ""))
    if name == JUDGED and not np.max(difference) <= BOUND:
        failed = True
print("DIFFERS beyond the bound" if failed else "within the bound")
sys.exit(1 if failed else 0)
)";

std::string short_name(const std::string& operand) { return operand.substr(operand.find('.') + 1); }

bool is_gradient(const NodeCase& node, const std::string& operand) {
  return std::ranges::count(node.judged, "grad/" + operand) > 0;
}

// The tensor of a step that a finding is about.
std::string judged_name(const NodeCase& node, const Finding& finding) {
  if (finding.what.starts_with("result"))
    return cat("output/", node.label, finding.what == "result" ? "" : ".r" + finding.what.substr(7));
  for (const std::string& tensor : node.judged) {
    const std::string operand = short_name(tensor.substr(tensor.find('/') + 1));
    if (finding.what == "gradient of " + operand && tensor.starts_with("grad/")) return tensor;
    if (finding.what == operand + " after the step" && tensor.starts_with("buffer/")) return tensor;
  }
  return "output/" + node.label;
}

// How a framework makes a tensor, records a loss and gives gradients and buffers back.
struct Dialect {
  std::string imports, tensor, record, gradients, to_numpy;
};
Dialect dialect(const std::string& framework) {
  if (framework == "pytorch")
    return {"import torch\nimport torch.nn.functional as F\n", "torch.tensor(operands[{}])", "", "",
            ".detach().numpy()"};
  if (framework == "tensorflow") return {"import tensorflow as tf\n", "tf.Variable(operands[{}])", "", "", ".numpy()"};
  return {"import mxnet as mx\n", "mx.nd.array(operands[{}], dtype=operands[{}].dtype)", "", "", ".asnumpy()"};
}

std::string filled(std::string text, const std::string& with) {
  for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}"))
    text = text.substr(0, at) + with + text.substr(at + 2);
  return text;
}

std::string python_string(const std::string& text) { return cat("\"", text, "\""); }

std::string number(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

class Script {
 public:
  Script(const std::string& framework, const NodeProgram& one) : framework_(framework), one_(one), node_(one.cases[0]) {
    for (const std::string& name : node_.names)
      if (is_gradient(node_, name)) trained_.push_back(name);
  }

  std::string body(const PythonCall& call) const {
    const Dialect d = dialect(framework_);
    std::string out = "\n";
    for (const std::string& name : node_.names)
      out += cat(short_name(name), " = ", filled(d.tensor, python_string(name)), "\n");
    for (size_t r = 0; r < result_count(node_.op); ++r)
      if (one_.inputs.contains(upstream(r)))
        out += cat(up(r), " = ", filled(d.tensor, python_string(upstream(r))), "\n");
    out += call.before + (call.before.empty() ? "" : "\n\n") + step(call.y) + "result = {";
    for (size_t r = 0; r < result_count(node_.op); ++r)
      out += cat(r == 0 ? "" : "          ", python_string("output/" + result_label(node_.label, r)), ": ", y(r),
                 d.to_numpy, ",\n");
    for (size_t i = 0; i < trained_.size(); ++i)
      out += cat("          ", python_string("grad/" + trained_[i]), ": ", gradient(i), d.to_numpy, ",\n");
    if (framework_ != "tensorflow")
      for (const std::string& tensor : node_.judged)
        if (tensor.starts_with("buffer/"))
          out += cat("          ", python_string(tensor), ": ", short_name(tensor.substr(7)), d.to_numpy, ",\n");
    return out.substr(0, out.size() - 2) + "}\n";
  }

 private:
  std::string upstream(size_t r) const { return result_label(node_.label, r) + ".up"; }
  static std::string y(size_t r) { return r == 0 ? "y" : cat("y", r); }
  static std::string up(size_t r) { return r == 0 ? "up" : cat("up", r); }

  // y, or "y, y1, y2".
  std::string results() const {
    std::vector<std::string> names;
    for (size_t r = 0; r < result_count(node_.op); ++r) names.push_back(y(r));
    return join(names, ", ");
  }

  std::string loss() const {
    std::vector<std::string> terms;
    for (size_t r = 0; r < result_count(node_.op); ++r)
      if (one_.inputs.contains(upstream(r)))
        terms.push_back(framework_ == "tensorflow" ? cat("tf.reduce_sum(", y(r), " * ", up(r), ")")
                                                   : cat("(", y(r), " * ", up(r), ").sum()"));
    if (terms.empty()) return cat("y * ", number(one_.program.phases[0].loss.at(0).norm));
    return join(terms, " + ");
  }

  std::string shorts() const {
    std::vector<std::string> names;
    for (const std::string& name : trained_) names.push_back(short_name(name));
    return join(names, ", ");
  }

  std::string step(const std::string& call) const {
    const std::string forward = cat(results(), " = ", call, "\n");
    if (trained_.empty()) return forward;
    if (framework_ == "tensorflow")
      return cat("with tf.GradientTape() as tape:\n    ", forward, "    loss = ", loss(),
                 "\ngradients = tape.gradient(loss, [", shorts(), "])\n");
    if (framework_ == "mxnet")
      return cat("for operand in (", shorts(), ",):\n    operand.attach_grad()\nwith mx.autograd.record():\n    ",
                 forward, "    loss = ", loss(), "\nloss.backward()\n");
    return cat("for operand in (", shorts(), ",):\n    operand.requires_grad_()\n", forward, "(", loss(),
               ").backward()\n");
  }

  std::string gradient(size_t i) const {
    if (framework_ == "tensorflow") return cat("tf.convert_to_tensor(gradients[", i, "])");
    return short_name(trained_[i]) + ".grad";
  }

  std::string framework_;
  const NodeProgram& one_;
  const NodeCase& node_;
  std::vector<std::string> trained_;
};

}  // namespace

std::string reproduction_script(const Subject& subject, const NodeProgram& one, const Finding& finding) {
  const NodeCase& node = one.cases.front();
  const std::string framework = subject.framework.substr(0, subject.framework.find('@'));
  const std::optional<PythonCall> call = python_call(framework, node);
  std::string text =
      cat("#!/usr/bin/env python3\n\"\"\"", subject.framework, " ", subject.version, ": ", sentence(finding),
          ".\n\nThe op ", kind(node.op), " with attributes ", attributes_to_json(node.op).dump(),
          " is run once on the operands of\noperands.safetensors (logical layout NCHW)");
  if (node.backward)
    text += cat(", and its gradients for the loss sum(y * ", node.label,
                ".up)\n(for a scalar y: y times a constant) are compared");
  text +=
      cat(".\nExpected is the float64 result of the same float32 operands, in expected.safetensors; ", finding.what,
          "\nmust lie within ", number(finding.bound), " of it at every element (", finding.source,
          ").\nNeeds numpy and ", framework, ". Exits with 1 when the difference shows.\n\"\"\"\n",
          "import json\nimport os\nimport struct\nimport sys\n\nimport numpy as np\n",
          call ? dialect(framework).imports : "",
          "\nHERE = os.path.dirname(os.path.abspath(__file__))\nOUTPUT = ", python_string("output/" + node.label),
          "\nJUDGED = ", python_string(judged_name(node, finding)), "\nBOUND = ", number(finding.bound), "\n", kReader);
  if (call)
    text += Script(framework, one).body(*call);
  else
    text += cat("\n# Compute the op with ", framework, " here and put its results under the names of `expected`.\n",
                "# Until then the recorded values are shown.\nresult = recorded\n");
  return text + kVerdict;
}

std::optional<PythonCall> python_call(const std::string& framework, const NodeCase& node) {
  using enum PythonNode::Framework;
  const std::pair<std::string_view, PythonNode::Framework> known[] = {
      {"pytorch", torch}, {"tensorflow", tensorflow}, {"mxnet", mxnet}};
  for (const auto& [name, each] : known)
    if (name == framework) return python_call(node.op, PythonNode(each, node.operands, node.names));
  return std::nullopt;
}

}  // namespace tbd
