// The part of CNTK 2.7's C++ interface that this back-end calls, declared from the names that its libraries export
// (`nm -DC`); the wheel has no headers. The linker checks the names. Sizes and the order of virtual functions were read
// from constructors, copies and vtables; abi_check.h tries them before anything else runs. This
// back-end alone sees the header.
//
// Shapes are column-major: the axes of a row-major tensor backwards. Objects are made and freed by their own exported
// constructors and destructors, in memory that is larger than they are.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace CNTK {

enum class DataType : unsigned { kFloat = 1, kDouble = 2 };
enum class StorageFormat : unsigned { kDense = 0 };
enum class PoolingType { kMax = 0, kAverage = 1 };
enum class PaddingMode { kConstant = 0 };
enum class VariableKind : unsigned;

struct DeviceDescriptor {
  unsigned id = 0, kind = 0;  // kind 0: the processor
  static bool TrySetDefaultDevice(const DeviceDescriptor& device, bool exclusive);
};
static_assert(sizeof(DeviceDescriptor) == 8);

struct NDShape {
  std::vector<size_t> extents;
};
static_assert(sizeof(NDShape) == 24);

class Axis {
 public:
  explicit Axis(int place);
  static const Axis& DefaultBatchAxis();
  static const Axis& AllAxes();

 private:
  int place_;
  std::wstring name_;
  bool is_ordered_;
};
static_assert(sizeof(Axis) == 48);

class Dictionary {
 public:
  Dictionary();
  Dictionary(const Dictionary& other);
  ~Dictionary();

 private:
  void* room_[8];
};

class NDArrayView : public std::enable_shared_from_this<NDArrayView> {
 public:
  NDArrayView(DataType type, StorageFormat format, const NDShape& shape, const DeviceDescriptor& device);
  // On memory of the caller's, which outlives it.
  NDArrayView(DataType type, const NDShape& shape, void* data, size_t bytes, const DeviceDescriptor& device,
              bool read_only);
  ~NDArrayView();
  template <class Element>
  const Element* DataBuffer() const;
  template <class Element>
  Element* WritableDataBuffer();
  void SetValue(float value);
  void SetValue(double value);
  void CopyFrom(const NDArrayView& other);

 private:
  alignas(16) std::byte room_[496];
};
using NDArrayViewPtr = std::shared_ptr<NDArrayView>;
extern template const float* NDArrayView::DataBuffer<float>() const;
extern template const double* NDArrayView::DataBuffer<double>() const;
extern template float* NDArrayView::WritableDataBuffer<float>();
extern template double* NDArrayView::WritableDataBuffer<double>();

class NDMask;
class Value : public std::enable_shared_from_this<Value> {
 public:
  explicit Value(const NDArrayViewPtr& data);
  virtual ~Value();
  virtual DeviceDescriptor Device() const;
  virtual DataType GetDataType() const;
  virtual StorageFormat GetStorageFormat() const;
  virtual const NDShape& Shape() const;
  virtual bool IsReadOnly() const;
  virtual size_t MaskedCount() const;
  virtual NDArrayViewPtr Data() const;
  virtual std::shared_ptr<NDMask> Mask() const;
  virtual std::shared_ptr<Value> DeepClone(bool read_only) const;
  virtual std::shared_ptr<Value> Alias(bool read_only) const;
  virtual void CopyFrom(const Value& other);
  virtual void Erase();
  virtual bool IsValid() const;

 private:
  alignas(16) std::byte room_[496];
};
using ValuePtr = std::shared_ptr<Value>;

class Function;
using FunctionPtr = std::shared_ptr<Function>;

class Variable {
 public:
  Variable(const FunctionPtr& function);
  virtual Dictionary Serialize() const;
  virtual size_t CurrentVersion() const;
  virtual ~Variable();
  Variable(const Variable& other) = default;
  Variable& operator=(const Variable& other) = default;
  const NDShape& Shape() const;
  NDArrayViewPtr Value() const;
  // What tells variables apart, here as in the library.
  const void* identity() const { return fields_.get(); }
  friend bool operator==(const Variable& a, const Variable& b) { return a.identity() == b.identity(); }

 private:
  std::shared_ptr<struct VariableFields> fields_;
  std::shared_ptr<const Function> composite_;
};
static_assert(sizeof(Variable) == 0x28);

class Parameter : public Variable {
 public:
  Parameter(const NDArrayViewPtr& value, const std::wstring& name, const std::wstring& uid);
  Parameter(const Parameter& other);
  ~Parameter() override;
  void RecordValueUpdate();
};
class Constant : public Variable {
 public:
  Constant(const NDArrayViewPtr& value, const std::wstring& name);
  Constant(const Constant& other) = default;
  ~Constant() override;
  void RecordValueUpdate();
};
static_assert(sizeof(Parameter) == sizeof(Variable) && sizeof(Constant) == sizeof(Variable));

}  // namespace CNTK

// Not noexcept: the library's own is not either, and a table of nodes keeps its hashes for that reason.
template <>
struct std::hash<CNTK::Variable> {
  size_t operator()(const CNTK::Variable& variable) const { return std::hash<const void*>()(variable.identity()); }
};

namespace CNTK {

using Values = std::unordered_map<Variable, ValuePtr>;
using Variables = std::unordered_set<Variable>;
class BackPropState;

// Ops return functions of this class, which nothing derives from; its members are called without its vtable.
class CompositeFunction {
 public:
  std::shared_ptr<BackPropState> Forward(const Values& arguments, Values& outputs, const DeviceDescriptor& device,
                                         const Variables& roots, const Variables& without_gradient);
  void Backward(const std::shared_ptr<BackPropState>& state, const Values& roots, Values& gradients);
};

void SetMaxNumCPUThreads(size_t threads);
namespace Internal {
void SetFixedRandomSeed(size_t seed);
}  // namespace Internal

Variable InputVariable(const NDShape& shape, bool is_sparse, DataType type, bool needs_gradient,
                       const std::wstring& name, const std::vector<Axis>& dynamic_axes);

}  // namespace CNTK
