include mk/c.mk
