create unique index concurrently if not exists user_by_external_id on "user" (external_id);
