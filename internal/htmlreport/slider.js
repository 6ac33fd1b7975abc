
"use strict";

// sliderKeys gives keys that nobody else has taken to the one of the sliders that is most in sight.
// The list may change.
function sliderKeys(sliders) {
	document.addEventListener("keydown", event => {
		if (event.target !== document.body || !sliders.length) return;
		const middle = innerHeight / 2;
		const away = slider => {
			const r = slider.element.getBoundingClientRect();
			return Math.abs((r.top + r.bottom) / 2 - middle);
		};
		sliders.reduce((a, b) => away(b) < away(a) ? b : a).key(event);
	});
}

// slider lets people compare the two pictures of an element, whose data-width and data-height are
// theirs in pixels.
function slider(element) {
	const largest = 32;
	const view = element.querySelector(".view"), bar = element.querySelector(".bar");
	const before = element.querySelector(".before"), images = [...view.querySelectorAll("img")];
	const slider = bar.querySelector("input"), label = bar.querySelector("output"), gain = bar.querySelector("select");
	const toggle = bar.querySelector("[data-do=difference]");
	const width = Number(element.dataset.width), height = Number(element.dataset.height);
	const divider = document.createElement("div");
	divider.className = "divider";
	view.append(divider);
	element.classList.add("live");
	bar.hidden = false;

	// scale is in pixels of the screen for one of the picture; 0 fits. x and y are where the
	// picture begins in the view.
	let scale = 0, x = 0, y = 0, fit = 1, canvas = null, drawn = 0;

	function draw() {
		const room = element.clientWidth, high = Math.max(200, 0.8 * innerHeight);
		fit = Math.min(room / width, high / height, 8);
		const tall = Math.round(Math.max(height * fit, Math.min(160, high)));
		view.style.height = tall + "px";
		const s = scale || fit;
		const keep = (at, size, space) => size <= space ? (space - size) / 2 : Math.min(0, Math.max(space - size, at));
		x = keep(x, width * s, room);
		y = keep(y, height * s, tall);
		const transform = `translate(${x}px, ${y}px) scale(${s})`;
		for (const picture of canvas ? [...images, canvas] : images) picture.style.transform = transform;
		before.style.clipPath = `inset(0 ${100 - slider.value}% 0 0)`;
		divider.style.left = slider.value + "%";
		label.value = s < 0.1 ? (100 * s).toPrecision(2) + " %" : Math.round(100 * s) + " %";
		element.classList.toggle("large", s >= 1);
		element.classList.toggle("zoomed", scale > fit);
	}

	// zoom leaves what is at a point of the view where it is.
	function zoom(to, px = view.clientWidth / 2, py = view.clientHeight / 2) {
		const from = scale || fit;
		scale = to <= fit * 1.001 ? 0 : Math.min(largest, to);
		const s = scale || fit;
		x = px - (px - x) * s / from;
		y = py - (py - y) * s / from;
		draw();
	}

	// Steps go to the next power of two, so that pixels are squares of one size.
	const now = () => scale || fit;
	const larger = (px, py) => zoom(2 ** Math.floor(Math.log2(now()) + 1.001), px, py);
	const smaller = (px, py) => zoom(2 ** Math.ceil(Math.log2(now()) - 1.001), px, py);

	function slide(to) {
		slider.value = to;
		draw();
	}

	function difference(on) {
		element.classList.toggle("differing", on);
		toggle.setAttribute("aria-pressed", on);
		if (canvas) canvas.hidden = !on;
		if (!on) return;
		if (!canvas) {
			canvas = document.createElement("canvas");
			canvas.width = width;
			canvas.height = height;
			canvas.setAttribute("aria-label", "What was removed: grey where nothing was");
			view.append(canvas);
		}
		if (drawn !== Number(gain.value)) {
			drawn = Number(gain.value);
			const samples = images.map(image => {
				const context = canvas.getContext("2d", { willReadFrequently: true });
				context.drawImage(image, 0, 0, width, height);
				return context.getImageData(0, 0, width, height);
			});
			const [after, first] = samples;
			for (let i = 0; i < after.data.length; i++) {
				// A clamped array rounds and clips.
				if (i % 4 !== 3) first.data[i] = 128 + drawn * (first.data[i] - after.data[i]);
			}
			canvas.getContext("2d").putImageData(first, 0, 0);
		}
		draw();
	}

	const actions = {
		in: () => larger(), out: () => smaller(), whole: () => zoom(0), pixels: () => zoom(1),
		difference: () => difference(!element.classList.contains("differing")),
	};
	bar.addEventListener("click", event => actions[event.target.dataset.do]?.());
	slider.addEventListener("input", draw);
	gain.addEventListener("change", () => difference(true));

	function key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const step = 0.1 * view.clientWidth, value = Number(slider.value);
		const keys = {
			ArrowLeft: () => slide(value - 2), ArrowRight: () => slide(value + 2),
			Home: () => slide(0), End: () => slide(100),
			"+": larger0, "=": larger0, "-": smaller0, _: smaller0, 0: actions.whole, 1: actions.pixels, d: actions.difference,
		};
		const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
		const move = event.shiftKey && moves[event.key];
		if (move) {
			x += move[0];
			y += move[1];
			draw();
		} else if (Object.hasOwn(keys, event.key)) {
			keys[event.key]();
		} else {
			return;
		}
		event.preventDefault();
	}
	function larger0() { larger(); }
	function smaller0() { smaller(); }
	view.addEventListener("keydown", key);

	// One pointer moves the slider, or what is shown of an enlarged picture; two zoom.
	const pointers = new Map();
	let sliding = false;
	const inView = event => {
		const r = view.getBoundingClientRect();
		return [event.clientX - r.left, event.clientY - r.top];
	};
	view.addEventListener("pointerdown", event => {
		if (event.button) return;
		const [px, py] = inView(event);
		pointers.set(event.pointerId, [px, py]);
		view.setPointerCapture(event.pointerId);
		const near = Math.abs(px - slider.value / 100 * view.clientWidth) < 24;
		sliding = !element.classList.contains("differing") && (near || !element.classList.contains("zoomed"));
		if (sliding) slide(100 * px / view.clientWidth);
	});
	view.addEventListener("pointermove", event => {
		const last = pointers.get(event.pointerId);
		if (!last) return;
		const at = inView(event);
		if (pointers.size === 2) {
			const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
			const apart = point => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
			zoom(now() * apart(at) / apart(last), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
		} else if (sliding) {
			slide(100 * at[0] / view.clientWidth);
		} else {
			x += at[0] - last[0];
			y += at[1] - last[1];
			draw();
		}
		pointers.set(event.pointerId, at);
	});
	for (const end of ["pointerup", "pointercancel"]) view.addEventListener(end, event => pointers.delete(event.pointerId));
	view.addEventListener("dblclick", event => larger(...inView(event)));
	view.addEventListener("wheel", event => {
		if (!event.ctrlKey) return; // the page scrolls
		event.preventDefault();
		zoom(now() * 2 ** (-event.deltaY / 200), ...inView(event));
	}, { passive: false });

	new ResizeObserver(draw).observe(element);
	draw();
	return { element, key };
}
