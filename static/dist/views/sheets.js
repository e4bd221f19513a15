import{Avatar as ce,counted as pe,html as I,Problem as $e,Sheet as j,titleOf as D,useEffect as be,useState as L}from"../app.js";function G({state:e,actions:s,onClose:t}){let[o,l]=L(null),[a,m]=L(""),[c,u]=L("");be(()=>{s.publicGroups().then(l,r=>m(r.message))},[]);let $=r=>s.join(r).then(t,d=>m(d.message)),b=(o??[]).filter(r=>`${r.name} ${r.id}`.toLowerCase().includes(c.toLowerCase()));return I`
    <${j} title="Public groups" onClose=${t}>
      <${$e} text=${a} />
      <label class="field"><span class="unseen">Search public groups</span><input type="search" placeholder="Search groups" autofocus value=${c}
        onInput=${r=>u(r.target.value)} /></label>
      ${o===null&&!a&&I`<p class="quiet">Loading…</p>`}
      ${o!==null&&b.length===0&&I`<p class="quiet">${o.length===0?"No public groups yet. Create one and let anyone join.":`No groups match \u201C${c}\u201D.`}</p>`}
      <ul class="people">
        ${b.map(r=>I`
          <li key=${r.id} data-public=${r.id}>
            <span class="who"><${ce} name=${D(r,e.people)} square /><span class="person">${D(r,e.people)}<small>${pe(r.members,"member")}</small></span></span>
            ${e.groups.has(r.id)?I`<a class="button" href="#${encodeURIComponent(r.id)}" aria-label="Open ${D(r,e.people)}" onClick=${t}>Open</a>`:I`<button type="button" class="button primary" aria-label="Join ${D(r,e.people)}" onClick=${()=>$(r.id)}>Join</button>`}
          </li>`)}
      </ul>
    </${j}>`}import{Avatar as de,fullTime as fe,html as v,Icon as he,KnownPeople as ge,Name as ve,Problem as W,Sheet as U,shortTime as ye,textOf as Y,titleOf as ke,useState as P,withLabels as we}from"../app.js";function E({state:e,actions:s,onClose:t}){let[o,l]=P(""),[a,m]=P(""),c=[...e.inbox.items].reverse(),u=()=>{l(""),s.clearInbox().catch($=>l($.message))};return v`
    <${U} title="Inbox" side onClose=${t}>
      <${W} text=${o} />
      ${!e.inbox.complete&&v`<p class="quiet">Some older items are no longer available.</p>`}
      ${c.length===0&&v`<p class="quiet">You’re all caught up. Direct messages and mentions appear here.</p>`}
      <ul class="items">
        ${c.map($=>v`<li key=${$.seq} class="item" data-seq=${$.seq} data-kind=${$.kind}><${xe} item=${$} groups=${e.groups} people=${e.people} me=${e.me} onReply=${m} onOpen=${t} /></li>`)}
      </ul>
      ${c.length>0&&v`<p class="buttons"><button type="button" class="button" onClick=${u}>Mark all as read</button></p>`}
      <${Ce} key=${a} to=${a} people=${e.people} me=${e.me} send=${s.direct} />
    </${U}>`}function xe({item:e,groups:s,people:t,me:o,onReply:l,onOpen:a}){let m=s.get(e.group??""),c=m?ke(m,t):e.group;return v`
    <${de} user=${e.from} name=${e.group??"?"} />
    <div class="item-text">
      <p class="item-head"><strong>${Se(e,c,Y(t,e.from??""))}</strong><time datetime=${e.sent_at} title=${fe(e.sent_at)}>${ye(e.sent_at)}</time></p>
      ${e.body!==void 0&&v`<p class="item-body">${we(e.body,t,[o])}</p>`}
      ${e.kind==="direct"&&e.from&&v`<button type="button" class="text-button" onClick=${()=>l(e.from??"")}><${he} name="reply" />Reply</button>`}
      ${m&&v`<a class="text-button" href="#${encodeURIComponent(m.id)}" onClick=${a}>Open ${c}</a>`}
    </div>`}function Se(e,s,t){switch(e.kind){case"direct":return v`<${ve} user=${e.from} />`;case"mention":return`${t} mentioned you in ${s}`;case"added":return`${t} added you to ${s}`;case"removed":return`${t} removed you from ${s}`;case"announcement":return`Announcement${t&&` from ${t}`}`;case"schedule_failed":return"A scheduled message could not be sent";default:return e.kind.replaceAll("_"," ")}}function Ce({to:e,people:s,me:t,send:o}){let[l,a]=P(e),[m,c]=P(""),[u,$]=P(""),[b,r]=P("");async function d(i){i.preventDefault(),$(""),r("");try{await o(l.trim(),m.trim()),c(""),r(`Sent to ${Y(s,l.trim())}.`)}catch(n){$(n.message)}}return v`
    <form class="sheet-foot stack" onSubmit=${d}>
      <h3>Send a direct message</h3>
      <label class="field"><span>To</span><input name="to" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob"
        value=${l} list="known-people" onInput=${i=>a(i.target.value)} /></label>
      <${ge} people=${s} except=${new Map([[t,!0]])} />
      <label class="field"><span>Message</span><textarea name="direct" rows="2" required autofocus=${e!==""} value=${m}
        onInput=${i=>c(i.target.value)}></textarea></label>
      <${W} text=${u} />
      <p class="quiet" role="status">${b}</p>
      <button class="button primary">Send</button>
    </form>`}import{Avatar as Ie,html as f,IconButton as K,inviteLink as Pe,KnownPeople as Re,labelOf as z,Name as qe,Problem as Ae,roleOf as Ne,Sheet as F,textOf as De,titleOf as J,useEffect as Oe,useState as y}from"../app.js";var Q={owner:0,admin:1,member:2};function V({state:e,actions:s,group:t,onClose:o}){let[l,a]=y(""),[m,c]=y(!1),u=e.groups.get(t);if(!u)return null;let $=Ne(e,t),b=$==="owner"||$==="admin",r=[...e.members.get(t)?.values()??[]],d=n=>De(e.people,n);r.sort((n,h)=>Q[n.role]-Q[h.role]||z(e.people,n.user).localeCompare(z(e.people,h.user))||(n.user<h.user?-1:1));let i=n=>(a(""),n.then(()=>!0,h=>(a(h.message),!1)));return f`
    <${F} title="Members of ${J(u,e.people)}" side onClose=${o}>
      <${Ae} text=${l} />
      ${!u.direct&&f`<${Me} group=${u} manages=${b} actions=${s} />`}
      ${b&&f`<${Te} people=${e.people} members=${e.members.get(t)} onAdd=${(n,h)=>i(s.addMember(t,n,h))} />`}
      <ul class="people">
        ${r.map(n=>f`
          <li key=${n.user} data-user=${n.user}>
            <span class="who"><${Ie} user=${n.user} /><span class="person"><${qe} user=${n.user} />${n.user===e.me&&f` <small>(you)</small>`}</span></span>
            ${!u.direct&&n.user!==e.me&&f`<${K} icon="send" label="Message ${d(n.user)}" onClick=${async()=>{await i(s.openDirect(n.user))&&o()}} />`}
            ${b&&n.role!=="owner"&&n.user!==e.me?f`<span class="controls"><select aria-label="Role of ${d(n.user)}" value=${n.role} onChange=${h=>i(s.addMember(t,n.user,h.target.value))}>
                  <option value="member">Member</option><option value="admin">Admin</option></select>
                  <${K} icon="close" label="Remove ${d(n.user)}" onClick=${()=>i(s.removeMember(t,n.user))} /></span>`:f`<span class="role">${n.role[0].toUpperCase()}${n.role.slice(1)}</span>`}
          </li>`)}
      </ul>
      ${r.length<u.members&&f`<p class="quiet">and ${(u.members-r.length).toLocaleString()} more</p>`}
      ${b&&f`<${_e} name=${u.name} onSave=${n=>i(s.changeGroup(t,{name:n}))} />
        <${Le} group=${u} onSave=${n=>i(s.changeGroup(t,n))} />`}
      ${!u.direct&&f`<div class="sheet-foot">
        ${m?f`<p>Leave ${J(u,e.people)}?${u.members<=1?" You\u2019re the last member, so the group will be deleted.":""}</p>
              <p class="buttons"><button type="button" class="button danger" onClick=${()=>i(s.leave(t))}>Leave group</button>
              <button type="button" class="button" onClick=${()=>c(!1)}>Cancel</button></p>`:f`<button type="button" class="button" onClick=${()=>c(!0)}>Leave group</button>`}
      </div>`}
    </${F}>`}var H=100;function Me({group:e,manages:s,actions:t}){let[o,l]=y(""),[a,m]=y(""),[c,u]=y(null);Oe(()=>{a&&import("./qr.js").then(u,()=>{})},[a]);let $=()=>t.invite(e.id,H).then(d=>{m(d),l(`Whoever has this link can join: up to ${H} people.`)},d=>l(d.message));async function b(d){d.preventDefault();let i=d.target.elements.invite;i.focus(),i.select();let n=document.execCommand("copy")||await navigator.clipboard?.writeText(i.value).then(()=>!0,()=>!1);l(n?"Link copied.":"Press Ctrl+C to copy the link.")}let r=e.visibility==="public"?"They sign in, and join under \u201CPublic groups\u201D.":s?"They sign in, and you add them by name below.":"They sign in, and the owner or an admin adds them.";return f`
    <form class="row-form" name="invite" onSubmit=${b}>
      <label class="field"><span>Invite link</span>
        <input name="invite" readonly value=${a||Pe(e.id)} onFocus=${d=>d.target.select()} />
        <small role="status">${o||r}</small></label>
      <button class="button">Copy</button>
      ${s&&!a&&f`<button type="button" class="button" name="invite-people" onClick=${$}>Invite people</button>`}
    </form>
    ${a&&c&&f`<${c.QR} text=${a} label="QR code of the invite link" />`}`}function Te({people:e,members:s,onAdd:t}){let[o,l]=y(""),[a,m]=y("member");async function c(u){u.preventDefault(),await t(o.trim(),a)&&l("")}return f`
    <form class="row-form" onSubmit=${c}>
      <label class="field"><span>Add member</span>
        <input name="user" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob" value=${o} list="known-people"
          onInput=${u=>l(u.target.value)} /></label>
      <select aria-label="Role" value=${a} onChange=${u=>m(u.target.value)}>
        <option value="member">Member</option><option value="admin">Admin</option></select>
      <button class="button primary">Add</button>
      <${Re} people=${e} except=${s} />
    </form>`}function _e({name:e,onSave:s}){let[t,o]=y(e);return f`
    <form class="row-form" onSubmit=${a=>{a.preventDefault(),s(t.trim())}}>
      <label class="field"><span>Group name</span>
        <input name="group-name" maxlength="200" autocomplete="off" value=${t} onInput=${a=>o(a.target.value)} /></label>
      <button class="button" disabled=${t.trim()===e}>Rename</button>
    </form>`}function Le({group:e,onSave:s}){let[t,o]=y(String(e.keep??"")),[l,a]=y(String(e.retain_days??"")),m=e.retain_days!==void 0,c={};return t!==""&&Number(t)!==e.keep&&(c.keep=Number(t)),m&&l!==""&&Number(l)!==e.retain_days&&(c.retain_days=Number(l)),f`
    <form class="stack" name="retention" onSubmit=${$=>{$.preventDefault(),s(c)}}>
      <label class="field"><span>Recent messages to keep</span>
        <input type="number" name="keep" required min="0" max="100000" value=${t} onInput=${$=>o($.target.value)} />
        <small>They stay even when everyone has read them. With an archive, older ones stay available too.</small></label>
      ${m&&f`
        <label class="field"><span>Days until messages are removed</span>
          <input type="number" name="retain_days" required min="0" max="36500" value=${l} onInput=${$=>a($.target.value)} />
          <small>0 keeps them forever. The server may have a shorter limit.</small></label>`}
      <button class="button" disabled=${Object.keys(c).length===0}>Save</button>
    </form>`}import{html as Be,newKey as je,Problem as Ge,Sheet as X,useRef as Ue,useState as Z}from"../app.js";function ee({actions:e,onClose:s}){let[t,o]=Z(""),[l,a]=Z(!1),m=Ue({content:"",key:""});async function c(u){u.preventDefault();let $=new FormData(u.target),b=n=>String($.get(n)??"").trim(),r=b("members").split(/[\s,]+/).filter(Boolean),d={name:b("name"),id:b("id")||void 0,visibility:b("visibility"),members:r.length>0?r:void 0},i=JSON.stringify(d);m.current.content!==i&&(m.current={content:i,key:je()}),a(!0),o("");try{await e.createGroup(d,m.current.key),s()}catch(n){o(n.code==="exists"?"This ID is already in use. Choose another one.":n.message),a(!1)}}return Be`
    <${X} title="New group" onClose=${s}>
      <form class="stack" onSubmit=${c}>
        <label class="field"><span>Name</span><input name="name" required autofocus maxlength="200" autocomplete="off" placeholder="Weekend trip" /></label>
        <label class="field"><span>Members</span><input name="members" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob, carol" />
          <small>Separate names with commas. You can add more people later.</small></label>
        <fieldset class="choice">
          <legend>Who can join</legend>
          <label><input type="radio" name="visibility" value="private" checked /><span><strong>Private</strong><small>Only people you add</small></span></label>
          <label><input type="radio" name="visibility" value="public" /><span><strong>Public</strong><small>Anyone on this server</small></span></label>
        </fieldset>
        <details><summary>Set a custom ID</summary>
          <label class="field"><span class="unseen">Custom ID</span><input name="id" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="weekend-trip" />
            <small>The group’s name in the API: letters, digits and . _ - @ + | : only. It can’t be changed later.</small></label></details>
        <${Ge} text=${t} />
        <button class="button primary wide" disabled=${l}>Create group</button>
      </form>
    </${X}>`}import{Avatar as We,counted as Ye,html as N,Name as Ee,Problem as Ke,Sheet as te,useEffect as ze,useState as se}from"../app.js";function ne({state:e,actions:s,group:t,id:o,onClose:l}){let[a,m]=se(null),[c,u]=se(""),$=e.members.get(t);ze(()=>{let i=!1;return s.receipts(t,o).then(n=>{i||m(n)},n=>{i||u(n.message)}),()=>{i=!0}},[$]);let b=a?.seen_by??[],r=b.filter(i=>i.read>=o).map(i=>i.user),d=b.filter(i=>i.read<o).map(i=>i.user);return N`
    <${te} title="Read receipts" side onClose=${l}>
      <${Ke} text=${c} />
      ${!a&&!c&&N`<p class="quiet">Loading…</p>`}
      ${a&&N`
        <p class="lead">Read by ${a.read} of ${Ye(a.members,"member")}.</p>
        <${B} title="Read" users=${r} name="read" />
        <${B} title="Delivered" users=${d} name="seen" />
        <${B} title="Not delivered yet" users=${a.pending??[]} name="pending" />`}
    </${te}>`}var B=({title:e,users:s,name:t})=>s.length>0&&N`
  <section data-receipts=${t}>
    <h3>${e}</h3>
    <ul class="people">${s.map(o=>N`<li key=${o} data-user=${o}><span class="who"><${We} user=${o} /><span class="person"><${Ee} user=${o} /></span></span></li>`)}</ul>
  </section>`;import{Avatar as Fe,fullTime as ae,html as C,Name as Je,Problem as Qe,Sheet as oe,shortTime as He,titleOf as Ve,useRef as Xe,useState as R}from"../app.js";function le({state:e,actions:s,group:t="",onClose:o}){let[l,a]=R(""),[m,c]=R(t),[u,$]=R(!1),[b,r]=R(null),[d,i]=R(""),[n,h]=R(!1),w=Xe(0);async function x(p,T){let _=++w.current;h(!0),i("");try{let A=await s.search({q:l.trim(),group:m,sort:u?"best":"newest",cursor:T});_===w.current&&r({hits:[...p,...A.hits],next:A.next,before:A.incomplete_before})}catch(A){_===w.current&&i(A.message)}_===w.current&&h(!1)}function S(){w.current++,r(null),h(!1),i("")}function O(p){p.preventDefault(),S(),l.trim()&&x([],"")}let M=p=>Ve(e.groups.get(p)??{id:p,name:""},e.people),g=p=>{o(),s.goTo(p.message.group,p.message.id)};return C`
    <${oe} title="Search messages" side onClose=${o}>
      <form class="stack" role="search" onSubmit=${O}>
        <div class="row-form">
          <label class="field"><span class="unseen">Search messages</span>
            <input type="search" name="q" autofocus maxlength="250" autocomplete="off" enterkeyhint="search" placeholder="Words, “a phrase”, -without" value=${l}
              onInput=${p=>a(p.target.value)} /></label>
          <button class="button primary" disabled=${!l.trim()}>Search</button>
        </div>
        <div class="row-form">
          ${t&&C`
            <select aria-label="Where to search" value=${m} onChange=${p=>{c(p.target.value),S()}}>
              <option value=${t}>This group</option><option value="">All groups</option></select>`}
          <select aria-label="Order" value=${u?"best":"newest"} onChange=${p=>{$(p.target.value==="best"),S()}}>
            <option value="newest">Newest first</option><option value="best">Best match first</option></select>
        </div>
      </form>
      <${Qe} text=${d} />
      <p class="quiet" role="status">${n?"Searching\u2026":b?.hits.length===0?"No messages found.":""}</p>
      ${b?.before&&C`<p class="quiet">Messages sent after ${ae(b.before)} may be missing.</p>`}
      <ul class="items hits" aria-label="Messages found">
        ${(b?.hits??[]).map(p=>C`
          <li key=${`${p.message.group} ${p.message.id}`}>
            <button type="button" class="item hit" data-hit="${p.message.group}/${p.message.id}" onClick=${()=>g(p)}>
              <${Fe} user=${p.message.from} />
              <span class="item-text">
                <span class="item-head"><strong><${Je} user=${p.message.from} /></strong>
                  <time datetime=${p.message.sent_at} title=${ae(p.message.sent_at)}>${He(p.message.sent_at)}</time></span>
                ${!m&&C`<small>${M(p.message.group)}</small>`}
                <span class="item-body">${Ze(p.snippet)}</span>
              </span>
            </button>
          </li>`)}
      </ul>
      ${b?.next&&C`<button type="button" class="button" disabled=${n} onClick=${()=>x(b.hits,b.next??"")}>Show more</button>`}
    </${oe}>`}function Ze({text:e,marks:s}){let t=[],o=0;for(let[l,a]of s)t.push(e.slice(o,l),C`<mark>${e.slice(l,a)}</mark>`),o=a;return[...t,e.slice(o)]}import{html as at,say as ot,Sheet as ue}from"../app.js";import{Avatar as et,html as re,Problem as tt,say as k,useEffect as st,useRef as nt,useState as q}from"../app.js";function ie({state:e,actions:s}){let[t,o]=q(null),[l,a]=q(""),[m,c]=q(""),[u,$]=q(""),[b,r]=q(""),[d,i]=q(!1),n=nt(null),h=async(g,p)=>{$(""),r(""),i(!0);try{w(await g),r(p)}catch(T){$(T.message)}i(!1)};function w(g){o(g),a(g.name??""),c(g.status?.text??"")}st(()=>{h(s.me(),"")},[]);let x={};t&&l.trim()!==(t.name??"")&&(x.name=l.trim()||null),t&&m.trim()!==(t.status?.text??"")&&(x.status=m.trim()?{...t.status,text:m.trim()}:null);let S=k("Saved.","\u5DF2\u4FDD\u5B58\u3002"),O=g=>{g.preventDefault(),h(s.changeMe(x),S)};function M(g){let[p]=g.target.files;g.target.value="",p&&h(s.putAvatar(p),S)}return re`
    <form class="stack profile" name="profile" onSubmit=${O}>
      <div class="profile-face">
        <${et} user=${e.me} />
        <div>
          <input ref=${n} type="file" name="picture" accept="image/png,image/jpeg,image/gif,image/webp" hidden onChange=${M} />
          <p class="buttons">
            <button type="button" class="button" disabled=${d} onClick=${()=>n.current?.click()}>${t?.picture?k("Replace","\u66F4\u6362\u5934\u50CF"):k("Upload picture","\u4E0A\u4F20\u5934\u50CF")}</button>
            ${t?.picture&&re`<button type="button" class="button" name="remove-picture" disabled=${d}
              onClick=${()=>h(s.removeAvatar(),S)}>${k("Remove","\u79FB\u9664")}</button>`}
          </p>
          <small class="quiet">${e.me}</small>
        </div>
      </div>
      <label class="field"><span>${k("Name","\u540D\u5B57")}</span>
        <input name="own-name" maxlength="64" autocomplete="name" dir="auto" placeholder=${e.me} value=${l} disabled=${!t}
          onInput=${g=>a(g.target.value)} /></label>
      <label class="field"><span>${k("Status","\u72B6\u6001")}</span>
        <input name="status" maxlength="100" autocomplete="off" dir="auto" placeholder=${k("In a meeting","\u5F00\u4F1A\u4E2D")} value=${m} disabled=${!t}
          onInput=${g=>c(g.target.value)} /></label>
      <${tt} text=${u} />
      <p class="quiet" role="status">${b}</p>
      <button class="button primary" disabled=${d||Object.keys(x).length===0}>${k("Save","\u4FDD\u5B58")}</button>
    </form>`}var me=({state:e,actions:s,onClose:t})=>at`
  <${ue} title=${ot("You","\u6211")} side onClose=${t}>
    <${ie} state=${e} actions=${s} />
  </${ue}>`;var At={browse:G,inbox:E,members:V,new:ee,receipts:ne,search:le,you:me};export{At as sheets};
//# sourceMappingURL=sheets.js.map
