create index concurrently user_last_name on "user" ((fold_case(substring(name from '[^ ]+$')) || chr(1) || id) text_pattern_ops)
  where position(' ' in name) > 0;
