
"use strict";
// The first message says what this worker is. Those that follow are the program's, which listens
// as soon as it runs.
onmessage = async ({ data }) => {
	onmessage = null;
	self.start = data;
	const go = new Go();
	// A program that ends has failed: it ran out of memory, or into a mistake of its own.
	const failed = why => postMessage({ event: "failed", ended: true, failed: why, text: why });
	try {
		await go.run(await WebAssembly.instantiate(data.module, go.importObject));
		failed("the computation ended, probably for want of memory: close other pages, or take a smaller picture");
	} catch (error) {
		failed(String(error));
	}
};
