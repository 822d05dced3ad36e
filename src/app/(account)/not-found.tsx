import { NoSuchPage } from "../no-such-page.tsx";

export default NoSuchPage;
