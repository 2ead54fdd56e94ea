SELECT slot FROM ojs_outbox_gate
