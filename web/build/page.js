
(() => {
	const id = name => document.getElementById(name);
	const form = id("form"), field = name => form.elements[name];
	const maxWorkers = 16;

	// What a worker is made of, fetched once: from then on the page needs its server no more.
	let parts = null, restorer = null, opened = null, queued = null;
	const sliders = [];
	sliderKeys(sliders);

	function fail(text) {
		id("failure").textContent = text;
		id("failure").hidden = !text;
	}

	// show says whether something is being done, and what.
	function show(text, fraction) {
		id("work").hidden = !text;
		if (text) id("doing").textContent = text;
		// A bar without a value moves by itself.
		if (fraction === undefined) id("progress").removeAttribute("value");
		else id("progress").value = fraction;
	}

	let began = 0;
	function busy(on) {
		began = performance.now();
		id("cancel").hidden = !on;
		id("go").disabled = on || !opened;
	}

	function elapsed() {
		const s = Math.round((performance.now() - began) / 1000);
		return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
	}

	async function load() {
		show("loading the program");
		const get = async name => {
			const answer = await fetch(name);
			if (!answer.ok) throw new Error(`${name}: ${answer.statusText}`);
			return answer;
		};
		const text = async name => (await get(name)).text();
		const [module, run, worker] = await Promise.all([
			WebAssembly.compileStreaming(get("restore.wasm")), text("wasm_exec.js"), text("worker.js"),
		]);
		parts = { module, url: URL.createObjectURL(new Blob([run, "\n", worker], { type: "text/javascript" })) };
		start();
	}

	// A software adapter is for tests alone, which ask for it by the address: ?gpu=software.
	const gpu = () => !field("gpu").checked ? "no" : new URLSearchParams(location.search).get("gpu") === "software" ? "software" : "yes";
	const asked = () => `${gpu()} ${field("workers").value}`;

	// start makes a worker that restores, in the place of the one before, which ends with all that
	// it does and all the workers that it has.
	function start() {
		restorer?.terminate();
		show("starting the workers");
		const worker = restorer = new Worker(parts.url);
		let ready = false;
		const waiting = [];
		worker.send = (request, file) => {
			if (!ready) return waiting.push([request, file]);
			worker.postMessage({ request: JSON.stringify(request), file });
		};
		worker.onmessage = ({ data }) => {
			if (worker !== restorer) return;
			if (data.event === "ready") {
				ready = true;
				events.computer(data);
				show("");
				for (const [request, file] of waiting) worker.send(request, file);
				return;
			}
			events[data.event](data);
		};
		worker.onerror = event => events.failed({ text: event.message || "the worker did not start", ended: true });
		worker.asked = asked();
		worker.postMessage({ role: "restorer", module: parts.module, url: parts.url, workers: Number(field("workers").value), gpu: gpu() });
	}

	// again is start with the picture that is open.
	function again() {
		start();
		if (opened) restorer.send({ Do: "open", Name: opened.name }, opened.bytes);
	}

	// blobOf makes a picture for an element of what a canvas holds: four bytes a pixel.
	async function blobOf(pixels, width, height) {
		const canvas = document.createElement("canvas");
		canvas.width = width;
		canvas.height = height;
		canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), 0, 0);
		const blob = await new Promise(resolve => canvas.toBlob(resolve, "image/png"));
		if (!blob) throw new Error(`this browser cannot show a picture of ${width}×${height} pixels`);
		return URL.createObjectURL(blob);
	}

	const events = {
		async opened({ width, height, pixels, text, warnings }) {
			if (!opened) return;
			if (opened.source) return; // opened again
			Object.assign(opened, { width, height });
			id("opened").textContent = [`${opened.name}: ${text}`, ...warnings].join("; ");
			try {
				opened.source = await blobOf(pixels, width, height);
				id("picture").src = opened.source;
				id("picture").hidden = false;
				id("result").hidden = true;
				show("");
				busy(false);
			} catch (error) {
				events.failed({ text: String(error.message) });
			}
		},

		computer({ computer }) {
			id("computer").textContent = "Computes on " + computer;
		},

		progress({ text, fraction }) {
			show(`${text}, ${Math.round(100 * fraction)} %, ${elapsed()}`, fraction);
		},

		async restored({ file, name, pixels, facts, doubts, proof }) {
			try {
				const after = await blobOf(pixels, opened.width, opened.height);
				compare(after);
				const link = id("download");
				if (link.href) URL.revokeObjectURL(link.href);
				link.href = URL.createObjectURL(new Blob([file]));
				link.download = name;
				link.textContent = "Download " + name;
			} catch (error) {
				return events.failed({ text: String(error.message) });
			}
			id("doubts").hidden = !doubts.length;
			id("doubts").querySelector("ul").replaceChildren(...doubts.map(text => element("li", text)));
			id("facts").replaceChildren(...facts.map(([name, value]) => {
				const line = document.createElement("div");
				line.append(element("dt", name), element("dd", value));
				return line;
			}));
			id("proof").hidden = !proof;
			id("proof").querySelector("pre").textContent = proof;
			show("");
			busy(false);
			id("title").focus();
		},

		failed({ text, ended }) {
			show("");
			fail(text);
			if (opened && !opened.source) opened = null; // no picture of ours
			busy(false);
			if (ended) again();
		},
	};

	function element(name, text) {
		const e = document.createElement(name);
		e.textContent = text;
		return e;
	}

	// compare shows the report's slider.
	function compare(after) {
		const room = id("slider");
		const old = room.querySelector(".after img");
		if (old) URL.revokeObjectURL(old.src);
		room.replaceChildren(id("comparison").content.cloneNode(true));
		const box = room.querySelector(".compare");
		box.dataset.width = opened.width;
		box.dataset.height = opened.height;
		for (const [kind, source] of [["before", opened.source], ["after", after]]) {
			const picture = box.querySelector(`.${kind} img`);
			picture.width = opened.width;
			picture.height = opened.height;
			picture.src = source;
		}
		id("picture").hidden = true;
		id("result").hidden = false;
		sliders.splice(0, sliders.length, slider(box));
	}

	async function open(file) {
		fail("");
		if (!parts) {
			queued = file; // until the program is there
			return;
		}
		if (!id("cancel").hidden) return fail("wait for the end, or cancel, before another picture");
		if (opened?.source) URL.revokeObjectURL(opened.source);
		let bytes;
		try {
			bytes = new Uint8Array(await file.arrayBuffer());
		} catch {
			return fail(`${file.name} cannot be read`);
		}
		opened = { name: file.name, bytes };
		id("go").disabled = true;
		id("picture").hidden = true;
		id("result").hidden = true;
		show("opening " + file.name);
		restorer.send({ Do: "open", Name: file.name }, bytes);
	}

	const factor = () => Number((4 ** Number(field("strength").value)).toPrecision(2));

	function choices() {
		const deblurring = field("task").value === "deblur";
		id("blur").hidden = !deblurring;
		for (const part of form.querySelectorAll(".of")) {
			part.hidden = part.dataset.kernel !== field("kernel").value;
			for (const input of part.querySelectorAll("input")) input.disabled = !deblurring || part.hidden;
		}
		id("factor").value = factor();
		const prior = field("method").querySelector("[value=original]");
		prior.hidden = prior.disabled = !deblurring;
		if (prior.disabled && prior.selected) field("method").value = "fast";
	}

	form.addEventListener("input", choices);
	form.addEventListener("submit", async event => {
		event.preventDefault();
		if (!opened?.source || id("go").disabled) return;
		fail("");
		busy(true);
		show("beginning");
		if (restorer.asked !== asked()) again();
		let kernel;
		try {
			const chosen = field("kernelfile").files[0];
			if (field("task").value === "deblur" && field("kernel").value === "picture" && chosen) kernel = new Uint8Array(await chosen.arrayBuffer());
		} catch {
			return events.failed({ text: "the picture of the kernel cannot be read" });
		}
		restorer.send({
			Do: "restore", Name: opened.name, Task: field("task").value, Method: field("method").value, Strength: factor(),
			Sigma: Number(field("sigma").value) / 255, Kernel: field("kernel").value,
			Length: Number(field("distance").value), Angle: Number(field("angle").value),
		}, kernel);
	});
	id("cancel").addEventListener("click", () => {
		busy(false);
		again();
	});
	id("file").addEventListener("change", event => {
		if (event.target.files[0]) open(event.target.files[0]);
		event.target.value = ""; // so that the same file can be chosen again
	});
	for (const name of ["dragenter", "dragover"]) {
		document.addEventListener(name, event => {
			event.preventDefault();
			id("drop").classList.add("over");
		});
	}
	for (const name of ["dragleave", "drop"]) {
		document.addEventListener(name, event => {
			event.preventDefault();
			id("drop").classList.remove("over");
		});
	}
	document.addEventListener("drop", event => {
		if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
	});

	field("workers").value = Math.min(maxWorkers, navigator.hardwareConcurrency || 1);
	choices();
	load().then(() => { if (queued) open(queued); }, error => {
		show("");
		fail(`The program cannot be loaded: ${error.message}. Is 'restore web' still running?`);
	});
})();
