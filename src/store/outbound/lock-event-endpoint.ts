export const LOCK_ENDPOINT = {
  name: "lock_event_endpoint",
  text: "select from event_endpoint where id = $1::uuid for no key update",
};
