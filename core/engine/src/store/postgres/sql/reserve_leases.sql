SELECT nextval('ojs_lease_seq')
