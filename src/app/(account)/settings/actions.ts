"use server";

import { revalidatePath } from "next/cache";
import { updateProfile as updateProfileOperation } from "../../../operations/users/update-profile.ts";
import { act } from "../../gate/act.ts";

/** Of the form's fields what is there: `name`, `theme`, and `emailNotifications` beside the theme. */
export async function updateProfile(form: FormData): Promise<void> {
  await act(updateProfileOperation, () => {
    const name = form.get("name");
    const theme = form.get("theme");
    return {
      ...(name === null ? {} : { name }),
      ...(theme === null
        ? {}
        : { preferences: { theme, emailNotifications: form.get("emailNotifications") === "on" } }),
    };
  });
  revalidatePath("/settings");
}
