// Package weights reads and writes weight files: tensors in the safetensors
// format, a checksum of them, and a Card that says which network they belong to. It
// opens the trained weights that a program imports (Open; package weights/open); README.md in its
// folder describes them.
//
// # The format
//
// A safetensors file is an 8-byte little-endian length N, N bytes of JSON, and
// the data of the tensors (the format's README, huggingface/safetensors):
//
//	{"__metadata__":{"key":"value"},
//	 "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//
// Data is row-major and little-endian; offsets count from the first byte after
// the header. Decode and Read accept what the format allows and nothing else:
//
//   - the header is valid UTF-8 and JSON (RFC 8259), begins with {, ends with },
//     and only spaces (0x20) follow; it is at most MaxHeaderSize bytes long;
//   - no object has a key twice, whether or not it is spelled with escapes;
//   - metadata maps strings to strings; a tensor has dtype, shape and
//     data_offsets, and nothing else;
//   - lengths and offsets are whole numbers without sign, point or exponent;
//   - the ranges of the tensors tile the data, with no gap, no overlap and no byte
//     left at the end, and each is as long as its dtype and shape say.
//
// The last rule leaves no room for two meanings of one file. Tensors without
// elements and scalars (shape []) are allowed. Values are not looked at.
//
// File.Write is deterministic: equal files give equal bytes. The order is that of
// the reference implementation, types of large alignment first and then by name,
// and the header is padded with spaces to a multiple of 8 bytes. Metadata, which
// the reference writes in no particular order, is sorted by key.
//
// # Reading a file with PyTorch
//
// Any safetensors module reads these files. Without one, ten lines do:
//
//	def load_torch(path):
//	    raw = open(path, "rb").read()
//	    start = 8 + int.from_bytes(raw[:8], "little")
//	    header, data = json.loads(raw[8:start]), bytearray(raw[start:])
//	    metadata = header.pop("__metadata__", {})
//	    types = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
//	    def tensor(dtype, shape, data_offsets):
//	        flat = data[slice(*data_offsets)]  # a copy, so that the tensor may be written to
//	        return torch.frombuffer(flat, dtype=types[dtype]).reshape(shape) if flat else torch.empty(shape, dtype=types[dtype])
//	    return metadata, {name: tensor(**info) for name, info in header.items()}
//
// with json and torch imported. testdata/check_torch.py holds these lines, and
// compares what they give with a reading by the standard library alone.
//
// # Concurrency
//
// A File, a Tensor and a Card are plain values: any number of goroutines may read
// one, and whoever writes to one needs it alone.
package weights
