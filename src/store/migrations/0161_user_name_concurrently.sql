create index concurrently user_name on "user" ((fold_case(name) || chr(1) || id) text_pattern_ops);
