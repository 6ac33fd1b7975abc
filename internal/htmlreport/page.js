
sliderKeys([...document.querySelectorAll(".compare")].map(slider));
