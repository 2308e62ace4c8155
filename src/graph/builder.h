// Writes a phase node by node, in the order of the calls (so never two calls in one argument list, which have none).
// Names come from scopes and become parameter names of the reference ("layer1.0.conv1").
#pragma once
#include <memory>

#include "graph/program.h"

namespace tbd {

// A value of the phase being built. Its shape is that of a nominal binding (batch 2).
class Tensor {
 public:
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t channels() const { return shape_[1]; }

 private:
  friend class Builder;
  Tensor(std::string name, Shape shape, DType dtype)
      : name_(std::move(name)), shape_(std::move(shape)), dtype_(dtype) {}
  std::string name_;
  Shape shape_;
  DType dtype_;
};

// What recurrent ops return: y of every step, and the last state.
struct State {
  Tensor h, c;
};
struct Recurrent {
  Tensor y;
  State last;
};
struct Gated {
  Tensor y, last;
};

class Builder {
 public:
  // Adds a phase to the program; parameters of earlier phases may be used again by name.
  Builder(Program& program, std::string phase_name);
  ~Builder();  // the phase is part of the program from the start; nothing is finished here

  static Dim batch() { return Dim(std::string("N")); }

  // Until the returned guard dies, names of nodes and parameters get "scope." before them.
  class Scope {
   public:
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    friend class Builder;
    Scope(Builder& builder, size_t length) : builder_(builder), length_(length) {}
    Builder& builder_;
    size_t length_;
  };
  [[nodiscard]] Scope scope(std::string_view name);

  Tensor input(std::string name, std::vector<Dim> shape, DType dtype = DType::f32);

  // Any op on its operands, under the name of its kind; where it has parameters, they are operands too.
  Tensor node(Op op, const std::vector<Tensor>& in);
  // The same with parameters of its own, as the ops below have them.
  Tensor node(std::string_view name, Op op, const std::vector<Tensor>& in);

  // An op with parameters; `name` is their prefix. A name used before shares the parameters (tied weights).
  Tensor conv2d(std::string_view name, const Tensor& x, Conv2d attributes);
  Tensor conv_transpose2d(std::string_view name, const Tensor& x, ConvTranspose2d attributes);
  Tensor linear(std::string_view name, const Tensor& x, Linear attributes);
  Tensor batch_norm(std::string_view name, const Tensor& x, BatchNorm attributes = {});
  Tensor group_norm(std::string_view name, const Tensor& x, GroupNorm attributes = {});
  Tensor layer_norm(std::string_view name, const Tensor& x, LayerNorm attributes = {});
  Tensor rms_norm(std::string_view name, const Tensor& x, RmsNorm attributes = {});
  Tensor embedding(std::string_view name, const Tensor& ids, Embedding attributes);
  // Keys "<name>.weight_ih<suffix>" and so on, with "_reverse" behind them when the op runs in reverse.
  Recurrent lstm(std::string_view name, const Tensor& x, Lstm attributes, std::string_view suffix = "_l0",
                 const std::optional<Tensor>& lengths = std::nullopt);
  Gated gru(std::string_view name, const Tensor& x, Gru attributes, std::string_view suffix = "_l0",
            const std::optional<Tensor>& lengths = std::nullopt);
  State lstm_cell(std::string_view name, const Tensor& x, const State& state, LstmCell attributes);

  // A parameter as a value: any op may read it, and the ops below take it as their weight. A name used before is the
  // same parameter, with its first init.
  Tensor parameter(std::string_view name, Shape shape, Init init = {});
  // Replaces how a parameter or buffer of this scope starts ("q_proj.weight"); an embedding's padding row stays 0.
  void init(std::string_view parameter, Init init);
  // y = x weight^T (+ bias), weight (out, in): a projection tied to an embedding, or by a weight that was computed.
  Tensor linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt);
  // Rows of a shared table. Where the table is a parameter, its row `pad` starts as 0.
  Tensor embedding(const Tensor& ids, const Tensor& table, int64_t pad = -1);

  Tensor relu(const Tensor& x) { return unary(x, Unary::Function::relu); }
  Tensor tanh(const Tensor& x) { return unary(x, Unary::Function::tanh); }
  Tensor sigmoid(const Tensor& x) { return unary(x, Unary::Function::sigmoid); }
  Tensor square(const Tensor& x) { return unary(x, Unary::Function::square); }
  Tensor sqrt(const Tensor& x) { return unary(x, Unary::Function::sqrt); }
  Tensor gelu(const Tensor& x) { return unary(x, Unary::Function::gelu); }
  Tensor silu(const Tensor& x) { return unary(x, Unary::Function::silu); }
  Tensor unary(const Tensor& x, Unary::Function function, double slope = 0.01);
  Tensor add(const Tensor& a, const Tensor& b) { return binary(a, b, Binary::Function::add); }
  Tensor sub(const Tensor& a, const Tensor& b) { return binary(a, b, Binary::Function::sub); }
  Tensor mul(const Tensor& a, const Tensor& b) { return binary(a, b, Binary::Function::mul); }
  Tensor div(const Tensor& a, const Tensor& b) { return binary(a, b, Binary::Function::div); }
  Tensor binary(const Tensor& a, const Tensor& b, Binary::Function function);
  Tensor affine(const Tensor& x, double factor, double offset = 0);
  Tensor greater(const Tensor& x, double value);
  Tensor clamp(const Tensor& x, Clamp attributes);
  Tensor matmul(const Tensor& a, const Tensor& b, Matmul attributes = {});
  Tensor max_pool(const Tensor& x, MaxPool attributes);
  Tensor avg_pool(const Tensor& x, AvgPool attributes);
  Tensor global_mean(const Tensor& x);
  Tensor upsample_nearest(const Tensor& x, int64_t factor);
  Tensor dropout(const Tensor& x, double p);  // x itself where p is 0, here and below
  // One draw a sample, as a node of that name.
  Tensor dropout_of_samples(std::string_view name, const Tensor& x, double p);
  Tensor reshape(const Tensor& x, std::vector<int64_t> shape);
  Tensor flatten(const Tensor& x) { return reshape(x, {0, -1}); }
  Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 1);
  Tensor slice(const Tensor& x, Slice attributes);
  Tensor transpose(const Tensor& x, std::vector<int64_t> axes);
  Tensor gather(const Tensor& x, const Tensor& positions);
  Tensor softmax(const Tensor& x);
  Tensor strided_length(const Tensor& lengths, int64_t stride);
  Tensor sequence_mask(const Tensor& x, const Tensor& lengths, int64_t axis);
  Tensor equals(const Tensor& x, int64_t value);
  Tensor sinusoid(const Tensor& valid, Sinusoid attributes);
  Tensor rotary(const Tensor& x, Rotary attributes = {});
  // mask: additive (N, Ts).
  Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, Attention attributes,
                   const std::optional<Tensor>& mask = std::nullopt);
  Tensor sum(const Tensor& x, std::vector<int64_t> axes = {}, bool keep = false);
  Tensor mean(const Tensor& x, std::vector<int64_t> axes = {}, bool keep = false);
  Tensor stop_gradient(const Tensor& x);
  Tensor input_gradient(const Tensor& y, const Tensor& x);
  std::vector<Tensor> host_call(std::string_view name, std::vector<Tensor> in, HostCall call);
  Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& label, double smoothing = 0);
  Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& label, SoftmaxCrossEntropy attributes,
                               const std::optional<Tensor>& weights = std::nullopt);
  Tensor soft_cross_entropy(const Tensor& logits, const Tensor& target);
  Tensor ctc_loss(const Tensor& logits, const Tensor& lengths, const Tensor& labels, const Tensor& label_lengths,
                  CtcLoss attributes = {});
  Tensor squared_error(const Tensor& a, const Tensor& b);

  void output(std::string name, const Tensor& value);
  // The term `value` (a scalar sum over the batch) times norm/<name> = norm / (global batch).
  void loss(std::string name, const Tensor& value, double norm = 1);
  // Call it last. A group without parameters takes every parameter that the phase uses and no other group names;
  // no group at all is one such group.
  void update(Update update);
  void accumulate(int64_t micro_batches);
  // Names of the parameters that this phase uses, in order of first use.
  std::vector<std::string> parameters() const;

 private:
  std::vector<Tensor> emit_all(std::string name, Op op, const std::vector<Tensor>& in);
  // Nodes are named name + suffix, parameters name.<parameter> + suffix.
  std::vector<Tensor> with_parameters(std::string_view name, std::vector<Tensor> in, Op op, std::string_view suffix);
  Tensor declare(const std::string& key, const ParameterSpec& spec);
  std::string unique(std::string_view name);
  Phase& phase();

  Program& program_;
  size_t phase_index_;
  std::string prefix_;
  std::map<std::string, int> counts_;
  std::vector<std::string> used_parameters_;
};

}  // namespace tbd
