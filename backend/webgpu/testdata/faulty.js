// faulty returns a WebGPU in the place of the browser's whose calls can be made to fail: fault is asked before each
// call, by the name of its function, and returns "" or what is to happen. "fails": an exception, or a promise that
// is broken. "nothing": the call is left out. "wrong": what is returned is an error that the browser has found.
// "lost": the device is lost. Calls go on to one device of the browser's, and a shader is compiled once, so that a
// device that is opened anew costs little.
self.faulty = (real, fault) => {
	const inside = new WeakMap(), outside = new WeakMap(), codes = new WeakMap(), compiled = new Map();
	let device, scopes = 0, gone = false, lose;
	const own = v => inside.has(v) ? inside.get(v) : Array.isArray(v) ? v.map(own) :
		v && Object.getPrototypeOf(v) === Object.prototype ? Object.fromEntries(Object.entries(v).map(([k, e]) => [k, own(e)])) : v;
	const special = {
		"GPUAdapter.requestDevice": async (adapter, args) => {
			device ??= await adapter.requestDevice(...args);
			outside.delete(device);
			gone = false;
			return device;
		},
		"GPUDevice.destroy": () => { for (; scopes > 0; scopes--) device.popErrorScope() },
		"GPUDevice.pushErrorScope": (d, args) => { scopes++; d.pushErrorScope(...args) },
		"GPUDevice.popErrorScope": d => { scopes--; return d.popErrorScope() },
		"GPUDevice.createShaderModule": (d, [what]) => {
			const module = d.createShaderModule(what);
			codes.set(module, what.code);
			return module;
		},
		"GPUDevice.createComputePipelineAsync": async (d, [what]) => {
			const key = codes.get(what.compute.module) + JSON.stringify(what.compute.constants);
			if (!compiled.has(key)) compiled.set(key, await d.createComputePipelineAsync(what));
			return compiled.get(key);
		},
	};
	const silent = /dispatchWorkgroups|submit|writeBuffer|copyBufferToBuffer|clearBuffer/;
	const call = (object, method, args) => {
		const name = object.constructor.name + "." + method, kind = fault(name);
		if (kind === "lost") { gone = true; lose({ reason: "unknown", message: "the GPU was pulled out" }) }
		if (kind === "nothing" || gone && silent.test(method)) return;
		if (gone && method === "mapAsync") return Promise.reject(new Error("a lost device maps nothing"));
		const answer = special[name] ? special[name](object, args.map(own)) : object[method](...args.map(own));
		if (answer instanceof Promise) {
			return answer.then(v => {
				if (kind === "fails") throw new Error(name + " fails");
				return kind === "wrong" ? { message: name + " finds a fault" } : wrap(v);
			});
		}
		if (kind === "fails") throw new TypeError(name + " fails");
		return wrap(answer);
	};
	const wrap = object => {
		if (!object || typeof object !== "object" || !object.constructor.name.startsWith("GPU")) return object;
		if (!outside.has(object)) {
			const lost = object === device ? new Promise(done => { lose = done }) : undefined;
			const proxy = new Proxy(object, { get: (_, key) => key === "lost" ? lost :
				typeof object[key] === "function" ? (...args) => call(object, key, args) : wrap(object[key]) });
			outside.set(object, proxy);
			inside.set(proxy, object);
		}
		return outside.get(object);
	};
	return wrap(real);
};
