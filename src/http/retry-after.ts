/** `Retry-After` of every 503: a database that failed over is usually reachable again by then. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 5;
