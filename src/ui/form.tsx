"use client";

import { type ComponentProps, createContext, useContext } from "react";

const Account = createContext<string | null>(null);

/** The id of the account that the forms of a page were shown to. */
export const AccountProvider = Account.Provider;

/** A form that says which account it was shown to: somebody else may have signed in since, in another tab. */
export function Form({ children, ...rest }: ComponentProps<"form">) {
  const account = useContext(Account);
  return (
    <form {...rest}>
      {account !== null && <input type="hidden" name="account" value={account} />}
      {children}
    </form>
  );
}
