package phase

// jaxRules: JAX with Flax, Optax and Orbax, and TensorFlow. A jitted function runs as a whole: the stack ends at its
// call, and the name in the quoted line is all there is to read. [unverified] against sources; names are public API.
func jaxRules() []rule {
	return []rule{
		r("jax/_src/compiler.py", "", Init, strong).says("XLA compiles the program"),
		r("jax/_src/interpreters/ad.py", "backward_pass*", Backward, decisive),
		r("orbax/checkpoint/", "", Checkpoint, strong),
		r("t5x/checkpoints.py", "", Checkpoint, strong),
		r("t5x/utils.py", "TrainStateInitializer from_checkpoint from_scratch from_checkpoint_or_scratch", Init, strong),
		r("flax/training/checkpoints.py", "", Checkpoint, strong),
		r("flax/linen/module.py", "init init_with_output", Init, strong),
		r("site-packages/grain/", "", Data, strong),
		r("site-packages/tensorflow_datasets/", "", Data, strong),
		shared("jax/_src/", "").with(opaque),
		shared("site-packages/jaxlib/", "").with(opaque),
		shared("site-packages/flax/", "").with(opaque),
		shared("site-packages/optax/", "").with(opaque),

		r("tensorflow/python/eager/backprop.py", "gradient _gradient_function", Backward, decisive),
		r("tensorflow/python/data/", "", Data, strong),
		r("keras/src/optimizers/", "apply_gradients apply minimize", Optimizer, strong),
		r("keras/optimizers/", "apply_gradients minimize", Optimizer, strong),
		shared("site-packages/tensorflow/", "").with(opaque),
		shared("site-packages/keras/", "").with(opaque),
	}
}
