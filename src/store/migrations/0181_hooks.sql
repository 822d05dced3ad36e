-- When a process last had the plugin: deliveries to a plugin that is gone would wait for ever.
alter table event_endpoint add column hook_seen_at timestamptz;
