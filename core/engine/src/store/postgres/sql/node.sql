SELECT nextval('ojs_node_seq')
