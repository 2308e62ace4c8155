// What torch's headers of CUDA name of libraries for linear algebra, whose headers are in packages of hundreds of
// megabytes. Handles are pointers; nothing here is called.
#pragma once

using cublasHandle_t = struct cublasContext*;
using cublasLtHandle_t = struct cublasLtContext*;
using cusparseHandle_t = struct cusparseContext*;
using cusolverDnHandle_t = struct cusolverDnContext*;
enum cublasStatus_t : int { CUBLAS_STATUS_SUCCESS = 0 };
enum cusparseStatus_t : int { CUSPARSE_STATUS_SUCCESS = 0 };
enum cusolverStatus_t : int { CUSOLVER_STATUS_SUCCESS = 0 };
