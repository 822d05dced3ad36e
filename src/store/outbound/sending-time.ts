/** For how long an event is sent again after failures, since it happened or was replayed. */
export const SENDING_TIME = "interval '5 days'";
