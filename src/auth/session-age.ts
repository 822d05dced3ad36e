const DAY_SECONDS = 24 * 60 * 60;

/** How long a session lasts that is not used, and after which time a use prolongs it. */
export const REMEMBERED_SECONDS = 7 * DAY_SECONDS;
export const UPDATE_AGE_SECONDS = DAY_SECONDS;
