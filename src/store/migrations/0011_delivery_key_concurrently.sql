-- Uniqueness by bytes: an index in a locale's order breaks when the operating system's collations change.
create unique index concurrently webhook_delivery_key
  on webhook_delivery (provider collate "C", event_id collate "C");
