export const LOCK_USER = {
  name: "lock_user_for_change",
  text: `select from "user" where id = $1 for no key update`,
};
