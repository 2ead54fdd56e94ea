UPDATE ojs_epoch SET value = value + 1
